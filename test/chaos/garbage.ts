// Bytes of upstreams that are no answer, and unrequested answers.

import type { Random } from './random.ts';

const beginnings = [
  'SSH-2.0-OpenSSH_9.9\r\n',
  '<html><body>502</body></html>',
  'HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n{}',
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
  'HTTP/9.9 999 ?\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n',
  '\r\n\r\n',
  '\0',
];

/** Bytes in the place of an answer. */
export function garbageOf(random: Random): Buffer {
  const noise = Buffer.from(Array.from({ length: random.between(0, 400) }, () => random.between(0, 255)));
  return Buffer.concat([Buffer.from(random.next() < 0.3 ? '' : random.pick(beginnings)), noise]);
}

/** One byte of each n-th reply is another one. */
export function damageEvery(replies: number, random: Random): (reply: Buffer) => Buffer {
  let passed = 0;
  return function damage(reply) {
    passed += 1;
    if (passed % replies !== 0) return reply;
    const damaged = Buffer.from(reply);
    const at = random.between(0, damaged.length - 1);
    damaged[at] = (damaged[at] as number) ^ random.between(1, 255);
    return damaged;
  };
}

const SUBSCRIBE = /\r\nsubscribe\r\n/i;
/** None of them confirms a subscription. */
const NO_CONFIRMATIONS = [':1', '*0', '$-1', '_', '+OK', '%0', '>1\r\n_'];

/** For a question to subscribe, in the place of Redis. */
export function noConfirmationOf(question: Buffer, random: Random): Buffer | undefined {
  if (!SUBSCRIBE.test(question.toString('latin1'))) return undefined;
  return Buffer.from(`${random.pick(NO_CONFIRMATIONS)}\r\n`);
}

/** A whole answer that every operation of the entries could have given, and none has: its entry is named by the token. */
export function unaskedAnswer(token: string): Buffer {
  const entry = { id: token, ordinal: 0, version: 1, note: token, size: 0 };
  const body = JSON.stringify({ ...entry, data: [entry] });
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}
