// Idle connections of tunnels: bytes that the other side writes on one while the event loop is busy are no answer to the next request.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createUnread } from '../../../gateway/sockets/unread-bytes.ts';
import { createAgents, createSecureAgents } from '../../../gateway/tunnel/agents.ts';
import { createAuthority } from '../../support/certificates.ts';
import { closesAfterEach } from '../../support/closing.ts';
import type { Shared } from '../http1/client/early-writer.ts';
import { LIMIT_RUNS } from '../limits/scenarios.ts';

const start = closesAfterEach();
const authority = createAuthority();
const { certificate: cert, key } = authority.issue({ names: ['127.0.0.1'] });

async function createScene(isSecure: boolean) {
  const [written, later] = [new Int32Array(new SharedArrayBuffer(4)), new Int32Array(new SharedArrayBuffer(4))];
  const forged = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged';
  const workerData: Shared = { tls: isSecure ? { cert, key } : undefined, written, later, forged };
  const worker = new Worker(new URL('../http1/client/early-writer.ts', import.meta.url), { workerData });
  await start({ close: async () => void (await worker.terminate()) });
  const [port] = (await once(worker, 'message')) as [number];
  const tls = { ca: authority.certificate };
  let reported = 0;
  const unasked = () => {
    reported += 1;
  };
  const { kept } = isSecure ? createSecureAgents(createUnread(), unasked, tls) : createAgents(createUnread(), unasked);
  await start({ destroy: () => kept.destroy() });
  return {
    reported: () => reported,
    later: () => Atomics.load(later, 0),
    /** Returns once the other side has written on every connection. Nothing else happens in this thread meanwhile. */
    forgeOnAll(): void {
      Atomics.store(written, 0, 0);
      worker.postMessage('forge');
      assert.notEqual(Atomics.wait(written, 0, 0, 10_000), 'timed-out');
    },
    async get(path: string): Promise<{ body: string; isReused: boolean }> {
      const { request } = isSecure ? https : http;
      const asked = request({ port, host: '127.0.0.1', path, agent: kept }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      let body = '';
      for await (const piece of answer) body += piece;
      await new Promise((resolve) => setImmediate(resolve));
      return { body, isReused: asked.reusedSocket };
    },
  };
}

for (const isSecure of [false, true]) {
  describe(`a connection that is kept${isSecure ? ' over TLS' : ''}`, () => {
    it('is used again', async () => {
      const { get } = await createScene(isSecure);
      assert.deepEqual(await get('/1'), { body: '/1', isReused: false });
      assert.deepEqual(await get('/2'), { body: '/2', isReused: true });
      assert.deepEqual(await get('/3'), { body: '/3', isReused: true });
    });

    it('is not used again when something came over it that Node has not read yet', async () => {
      const { get, forgeOnAll, later, reported } = await createScene(isSecure);
      const rounds = 60 * LIMIT_RUNS;
      for (let i = 0; i < rounds; i++) {
        await get('/warm');
        forgeOnAll();
        assert.deepEqual(await get('/own'), { body: '/own', isReused: false });
      }
      assert.equal(later(), 0);
      if (!isSecure) assert.equal(reported(), rounds, 'each is reported');
    });
  });
}
