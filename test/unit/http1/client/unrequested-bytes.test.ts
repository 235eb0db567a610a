// Bytes that the other side writes unrequested on an idle connection while the event loop is busy: they have arrived before the request is
// written, and Node has not read them. No request may get them for an answer, nor may the connection carry another one.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createAuthority } from '../../../support/certificates.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { LIMIT_RUNS } from '../../limits/scenarios.ts';
import type { Shared } from './early-writer.ts';
import { type Recorder, send } from './handler.ts';
import { destroying, poolTo, turns } from './peer.ts';

const start = closesAfterEach();
const authority = createAuthority();
const { certificate: cert, key } = authority.issue({ names: ['127.0.0.1'] });

const FORGED = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged';
const BURST = 25;
/** In the full run, ten thousand over plain HTTP. */
const BURSTS = LIMIT_RUNS > 1 ? 28 * LIMIT_RUNS : 4;

type Block = 'before' | 'inside' | 'in the middle';

async function createScene(connections: number, isSecure: boolean, forged = FORGED) {
  const [written, later] = [new Int32Array(new SharedArrayBuffer(4)), new Int32Array(new SharedArrayBuffer(4))];
  const workerData: Shared = { tls: isSecure ? { cert, key } : undefined, written, later, forged };
  const worker = new Worker(new URL('./early-writer.ts', import.meta.url), { workerData });
  await start({ close: async () => void (await worker.terminate()) });
  const [port] = (await once(worker, 'message')) as [number];
  const origin = `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`;
  const pool = poolTo(origin, { connections, ...(isSecure && { tls: { ca: authority.certificate } }) });
  await start(destroying(pool));

  /** Returns once the other side has written on every connection. Nothing else happens in this thread meanwhile. */
  function forgeOnAll(): void {
    Atomics.store(written, 0, 0);
    worker.postMessage('forge');
    assert.notEqual(Atomics.wait(written, 0, 0, 10_000), 'timed-out');
  }

  /** Requests for which every connection is free, and is written to unasked. */
  async function attempt(block: Block): Promise<Recorder[]> {
    // Otherwise the bytes of one attempt leave no connection to the next.
    pool.isolate(false);
    await Promise.all(Array.from({ length: connections }, () => send(pool, { path: '/warm' }).over));
    await turns(2);
    // From a callback in which Node reads sockets: bytes that come during it are read only after the end of the turn.
    await stat('.');
    if (block === 'before') forgeOnAll();
    let isFirst = true;
    const begun = () => {
      if (isFirst && block === 'in the middle') forgeOnAll();
      isFirst = false;
    };
    const sent = Array.from({ length: connections }, (_, i) => send(pool, { path: `/${i}` }, { begun }));
    if (block === 'inside') forgeOnAll();
    return Promise.all(sent.map(({ over }) => over));
  }

  return { pool, attempt, later: () => Atomics.load(later, 0) };
}

/** A connection that was still being made when the other side wrote on it is of no use, and another one is not made in its place. */
function isOwnOrUnsent({ told, body, error }: Recorder, path: string): void {
  if (told[0] === 'error') assert.equal(error?.code, 'WIRE_INCOMPLETE');
  else assert.equal(body, path);
}

for (const isSecure of [false, true]) {
  describe(`an answer that is written before its request${isSecure ? ', over TLS' : ''}`, {
    concurrency: false,
  }, () => {
    const share = isSecure ? 0.25 : 1;
    for (const [how, connections, count] of [
      ['a single request', 1, (BURSTS * BURST) / 4],
      ['a burst', BURST, BURSTS],
    ] as const) {
      for (const block of ['before', 'inside'] as const) {
        it(`is not taken by ${how} when the loop stands still ${block} the turn`, async () => {
          const { attempt, later } = await createScene(connections, isSecure);
          for (let i = 0; i < count * share; i++) {
            for (const [at, one] of (await attempt(block)).entries()) isOwnOrUnsent(one, `/${at}`);
          }
          assert.equal(later(), 0, 'a connection was used again');
        });
      }
    }

    it('is not taken by the others of a burst when the loop stands still between two of them', async () => {
      const { attempt } = await createScene(BURST, isSecure);
      for (let i = 0; i < BURSTS * 0.4 * share; i++) {
        const [, ...others] = await attempt('in the middle');
        // The first one had its connection already.
        for (const [at, one] of others.entries()) isOwnOrUnsent(one, `/${at + 1}`);
      }
    });
  });
}
