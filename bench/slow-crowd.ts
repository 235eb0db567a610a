// Slow clients, in a thread of their own, so that they do not delay the measured clients: half of them send heads a byte at a time, half of
// them bodies. A client with a closed connection connects again.

import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

export interface SlowCrowd {
  readonly port: number;
  readonly count: number;
  /** A whole request with a body. */
  readonly request: Uint8Array;
}

export interface SlowReport {
  readonly cut: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** Slow enough to last, and quick enough that no pause gives them away. */
const BYTE_EVERY_MS = 1000;
const AT_ONCE = 50;

const { port, count, request } = workerData as SlowCrowd;
const whole = Buffer.from(request);
const bodyAt = whole.indexOf('\r\n\r\n') + 4;
const statuses: Record<string, number> = {};
let cut = 0;

function open(number: number): void {
  const socket = connect({ port, host: '127.0.0.1' });
  // Bodies begin with all of the head, so that all work up to their validation is done.
  let sent = number % 2 === 0 ? 20 : bodyAt;
  socket.write(whole.subarray(0, sent));
  const trickle = setInterval(() => {
    socket.write(whole.subarray(sent, sent + 1));
    sent += 1;
  }, BYTE_EVERY_MS);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    const status = chunk.toString('latin1', 9, 12);
    statuses[status] = (statuses[status] ?? 0) + 1;
  });
  socket.once('close', () => {
    clearInterval(trickle);
    cut += 1;
    open(number);
  });
}

for (let number = 0; number < count; number += 1) {
  open(number);
  if (number % AT_ONCE === 0) await sleep(20);
}
parentPort?.postMessage('open');
parentPort?.on('message', () => parentPort?.postMessage({ cut, statuses } satisfies SlowReport));
