// Connections that are old or idle: when the next request does not get them any more.

import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { describe, it } from 'node:test';
import type { PoolSettings } from '../../../../gateway/http1/client/pool.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { send } from './handler.ts';
import { type Arrived, answer, counted, createPoolScene, EMPTY } from './peer.ts';

const start = closesAfterEach();

const createScene = (settings?: Partial<PoolSettings>, lookUp?: LookupFunction) =>
  createPoolScene(start, settings, lookUp);

describe('connections that grow old', () => {
  it('to a name get no further request', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const lookUp: LookupFunction = (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const { peer, pool } = await createScene({ connectionMaxAgeSeconds: 0 }, lookUp);
    const first = send(pool, { path: '/1' });
    await peer.until(({ requests }) => requests.length === 1);
    t.mock.timers.tick(1000);
    assert.equal(peer.closed, 0);
    peer.plays(answer);
    answer(peer.requests[0] as Arrived);
    assert.equal((await first.over).body, '/1');
    await peer.until(({ closed }) => closed === 1);
    assert.equal((await send(pool, { path: '/2' }).over).body, '/2');
    assert.equal(pool.openedCount, 2);
    t.mock.timers.tick(1000);
    await peer.until(({ closed }) => closed === 2);
  });

  it('to an address stay: it does not change', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { peer, pool } = await createScene({ connectionMaxAgeSeconds: 0 });
    peer.plays(answer);
    for (let i = 0; i < 3; i++) {
      await send(pool, { path: '/1' }).over;
      t.mock.timers.tick(1000);
    }
    assert.equal(pool.openedCount, 1);
  });

  it('are closed after 4 s without a request, and each request begins that anew', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { peer, pool } = await createScene();
    peer.plays(({ socket }) => void socket.write(EMPTY));
    for (let i = 0; i < 3; i++) {
      await send(pool).over;
      t.mock.timers.tick(3000);
    }
    assert.equal(pool.openedCount, 1);
    t.mock.timers.tick(1000);
    await peer.until(({ closed }) => closed === 1);
    await send(pool).over;
    assert.equal(pool.openedCount, 2);
  });

  it('are never closed for a request that takes long', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { peer, pool } = await createScene();
    const slow = send(pool, { path: '/slow' });
    await peer.until(({ requests }) => requests.length === 1);
    t.mock.timers.tick(60_000);
    answer(peer.requests[0] as Arrived);
    assert.equal((await slow.over).body, '/slow');
  });

  for (const [hint, secondsMax] of [
    ['timeout=10', 8],
    ['timeout=3, max=5', 1],
    ['max=5', 4],
  ] as const) {
    it(`are closed ${secondsMax} s after an answer with Keep-Alive: ${hint}`, async (t) => {
      t.mock.timers.enable({ apis: ['setInterval'] });
      const { peer, pool } = await createScene();
      peer.plays(({ socket }) => void socket.write(counted('', `keep-alive: ${hint}\r\n`)));
      await send(pool).over;
      t.mock.timers.tick((secondsMax - 1) * 1000);
      await send(pool).over;
      assert.equal(pool.openedCount, 1);
      t.mock.timers.tick(secondsMax * 1000);
      await peer.until(({ closed }) => closed === 1);
    });
  }

  it('are not used again after Keep-Alive: timeout=1', async () => {
    const { peer, pool } = await createScene();
    for (const [i, hint] of ['timeout=1', 'timeout=0', 'timeout=2'].entries()) {
      peer.plays(({ socket }) => void socket.write(counted('', `keep-alive: ${hint}\r\n`)));
      await send(pool).over;
      await peer.until(({ closed }) => closed === i + 1);
    }
    assert.equal(pool.openedCount, 3);
  });
});
