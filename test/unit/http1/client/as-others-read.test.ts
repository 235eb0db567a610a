// Answers with a byte changed, left out or added, beside Node's own parser: an answer accepted here is read there in the same way. Where
// the two differ, a party between the gateway and an upstream could hide one answer in another.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { it } from 'node:test';
import fc from 'fast-check';
import { closesAfterEach } from '../../../support/closing.ts';
import { LIMIT_RUNS } from '../../limits/scenarios.ts';
import { bytes, readAnswer, validAnswers } from './answers.ts';
import { startPeer } from './peer.ts';

const RUNS = 800 * LIMIT_RUNS;

const start = closesAfterEach();

/** Changes of answers: bytes with a meaning in them, and some that must not be there. */
const strays = fc.constantFrom(
  '',
  '\r',
  '\n',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '0',
  'f',
  '\0',
  '\x0b',
  '\xa0',
  '\r\n',
  '\r\n\r\n',
);
const mutations = fc.array(
  fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), stray: strays, drops: fc.nat(2) }),
  {
    minLength: 0,
    maxLength: 3,
  },
);

function mutated(text: string, changes: readonly { at: number; stray: string; drops: number }[]): string {
  return changes.reduce((whole, { at, stray, drops }) => {
    const from = Math.floor(at * whole.length);
    return whole.slice(0, from) + stray + whole.slice(from + drops);
  }, text);
}

/** Undefined: it was not understood, or not to its end. */
function readByNode(port: number): Promise<{ status: number | undefined; body: string } | undefined> {
  return new Promise((resolve) => {
    const asking = request({ port, host: '127.0.0.1', agent: false, insecureHTTPParser: false }, (answer) => {
      const body: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => body.push(chunk));
      answer.on('error', () => resolve(undefined));
      answer.on('end', () => resolve({ status: answer.statusCode, body: Buffer.concat(body).toString('latin1') }));
    });
    asking.on('error', () => resolve(undefined));
    asking.on('upgrade', (_answer, socket) => {
      socket.destroy();
      resolve(undefined);
    });
    asking.end();
  });
}

it('an answer that is understood is understood by Node, with the same status and body', async () => {
  const peer = await start(startPeer());
  let whole = '';
  let understood = 0;
  peer.plays(({ socket }) => socket.end(bytes(whole)));
  await fc.assert(
    fc.asyncProperty(validAnswers, mutations, async ({ text }, changes) => {
      whole = mutated(text, changes);
      const ours = readAnswer([bytes(whole)]);
      // Bytes after an answer end its connection here, and are an error there.
      if (!['end', 'closed'].includes(ours.outcome) || ours.hasSurplus) return;
      understood += 1;
      assert.deepEqual(await readByNode(peer.port), { status: ours.head?.status, body: ours.body });
    }),
    { numRuns: RUNS },
  );
  assert.ok(understood > RUNS / 25, 'hardly any was worth comparing');
});
