// The actions of one fuzzing client on its connection, all of it decided by one number: the same seed makes the same plan, so that one
// connection that did harm can be played again alone.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { createRandom, type Random } from '../../chaos/random.ts';
import { allCases } from '../cases/all.ts';
import { mutated, soundMessages } from '../mutations.ts';

/** Bytes that are written at once, and how long nothing follows them. */
export interface Piece {
  /** As latin1, KEY for a key. */
  readonly bytes: string;
  readonly pauseMs: number;
}

/** How a client leaves, behind its last piece: `answer` waits for the first byte that comes back. */
export type Leave = { readonly how: 'reset' | 'end' | 'close'; readonly when: 'at once' | 'answer' | number };

export interface Plan {
  /** For reports. */
  readonly kind: string;
  readonly pieces: readonly Piece[];
  readonly leave: Leave;
}

const own = 'Host: api.test\r\nAuthorization: Bearer KEY\r\n';
const large = `GET /v1/files HTTP/1.1\r\n${own}\r\n`;
const upgrade =
  `GET /pipe/socket HTTP/1.1\r\n${own}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
const authorities = ['a:1', 'api.test:443', '/v1/things', '*', '[::1]:80', ':', ''];
/** Protocols of other ports: TLS, HTTP/2, SSH, SMTP, Redis, a proxy's own line, HTTP/0.9. */
const strange = [
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00',
  'SSH-2.0-OpenSSH_9.9\r\n',
  'EHLO a\r\n',
  '*1\r\n$4\r\nPING\r\n',
  'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET / HTTP/1.1\r\n\r\n',
  'GET /\r\n',
];

const kinds: Readonly<Record<string, (random: Random) => string>> = {
  'random bytes': (random) => bytesOf(random, random.between(1, 2000)),
  'half of a request': (random) => {
    const message = oneMessage(random);
    return message.slice(0, random.between(1, message.length));
  },
  'a pipeline': (random) => messages(random, random.between(2, 6)),
  'a pipeline with half of a request at its end': (random) => {
    const all = messages(random, random.between(2, 6));
    return all.slice(0, random.between(1, all.length));
  },
  'an upgrade': (random) => before(random) + upgrade + bytesOf(random, random.between(0, 300)),
  'a CONNECT': (random) =>
    `${before(random)}CONNECT ${random.pick(authorities)} HTTP/1.1\r\n${random.pick(['', 'Host: a\r\n', own])}\r\n` +
    bytesOf(random, random.pick([0, 0, 200])),
  'a known attack': (random) => before(random) + random.pick(allCases).sent,
  'a changed request': (random) => changed(random),
  'another protocol': (random) => random.pick(strange) + bytesOf(random, random.between(0, 100)),
};

/** @param seed a whole number from 0 to 2³² - 1 */
export function planOf(seed: number): Plan {
  // Neighbours must not have anything in common.
  const random = createRandom(createHash('sha256').update(String(seed)).digest().readUInt32BE());
  const kind = random.pick(Object.keys(kinds));
  const bytes = (kinds[kind] as (random: Random) => string)(random);
  return { kind, pieces: piecesOf(bytes, random), leave: leaveOf(random) };
}

function piecesOf(bytes: string, random: Random): Piece[] {
  const cuts = random.pick([0, 0, 1, 3]);
  const borders = Array.from({ length: cuts }, () => random.between(0, bytes.length)).sort((a, b) => a - b);
  return [0, ...borders].map((from, index) => ({
    bytes: bytes.slice(from, borders[index]),
    pauseMs: index === cuts ? 0 : random.pick([0, 1, 5, 20]),
  }));
}

function leaveOf(random: Random): Leave {
  const how = random.pick(['reset', 'reset', 'reset', 'end', 'close'] as const);
  return { how, when: random.pick(['at once', 'answer', 1, 5, 40] as const) };
}

/** Mostly nothing; else a request that is answered soon, or with an answer that is still being written. */
const before = (random: Random): string => random.pick(['', '', soundMessages[0] as string, large]);

const oneMessage = (random: Random): string => (random.next() < 0.5 ? random.pick(soundMessages) : changed(random));

const messages = (random: Random, count: number): string =>
  Array.from({ length: count }, () => oneMessage(random)).join('');

const changed = (random: Random): string =>
  fc.sample(mutated, { seed: random.between(0, 2 ** 31 - 1), numRuns: 1 })[0] as string;

const bytesOf = (random: Random, count: number): string =>
  String.fromCharCode(...Array.from({ length: count }, () => random.between(0, 255)));
