// How the connections to one origin end: once they are unused, or at once.

import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { describe, it } from 'node:test';
import type { PoolSettings } from '../../../../gateway/http1/client/pool.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { send } from './handler.ts';
import { type Arrived, answer, createPoolScene, holdLookUps, turns } from './peer.ts';

const start = closesAfterEach();

const createScene = (settings?: Partial<PoolSettings>, lookUp?: LookupFunction) =>
  createPoolScene(start, settings, lookUp);

/** Whether it has resolved when everything that was in progress is done. */
function watched(promise: Promise<void>): { isDone: boolean } {
  const watch = { isDone: false };
  void promise.then(() => {
    watch.isDone = true;
  });
  return watch;
}

describe('a pool that closes', () => {
  it('is closed at once when it has no connection', async () => {
    const { pool } = await createScene();
    await pool.close();
  });

  it('closes connections that are free', async () => {
    const { peer, pool } = await createScene({ connections: 2 });
    peer.plays(answer);
    await Promise.all([send(pool).over, send(pool).over]);
    await pool.close();
    await peer.until(({ closed }) => closed === 2);
  });

  it('waits for requests in flight and for those that wait for a connection', async () => {
    const { peer, pool } = await createScene();
    const [first, second] = [send(pool, { path: '/1' }), send(pool, { path: '/2' })];
    await peer.until(({ requests }) => requests.length === 1);
    const closing = pool.close();
    const watch = watched(closing);
    answer(peer.requests[0] as Arrived);
    await peer.until(({ requests }) => requests.length === 2);
    await turns();
    assert.equal(watch.isDone, false);
    answer(peer.requests[1] as Arrived);
    await closing;
    assert.deepEqual([first.body, second.body], ['/1', '/2']);
    await peer.until(({ closed }) => closed === 1);
    assert.equal(pool.openedCount, 1);
  });

  it('waits for requests on connections that are not made yet', async () => {
    const { peer, pool } = await createScene();
    peer.plays(answer);
    const sent = send(pool, { path: '/1' });
    await pool.close();
    assert.equal(sent.body, '/1');
    await peer.until(({ closed }) => closed === 1);
  });

  it('does not wait for requests that have given up waiting', { timeout: 2000 }, async () => {
    const { peer, pool } = await createScene();
    const [first, given] = [send(pool, { path: '/1' }), send(pool, { path: '/2' })];
    await peer.until(({ requests }) => requests.length === 1);
    given.isEnded = true;
    const watch = watched(pool.close());
    answer(peer.requests[0] as Arrived);
    await first.over;
    await turns();
    assert.equal(watch.isDone, true);
    await peer.until(({ closed }) => closed === 1);
    assert.equal(peer.requests.length, 1);
    assert.deepEqual([first.told, given.told], [['begun', 'head', 'data', 'end'], []]);
  });

  it('does not wait for connections that are still being made without a request', async () => {
    const { lookUp, held } = holdLookUps(1);
    const { peer, pool } = await createScene({ connections: 2 }, lookUp);
    peer.plays(answer);
    await Promise.all([send(pool).over, send(pool).over]);
    assert.equal(held.length, 1);
    const watch = watched(pool.close());
    await turns();
    assert.equal(watch.isDone, true);
  });

  it('closes a connection without a request when it is made', async () => {
    const { peer, pool } = await createScene();
    const given = send(pool);
    await turns(1);
    given.isEnded = true;
    await pool.close();
    await peer.until(({ closed }) => closed === 1);
    assert.deepEqual(given.told, []);
  });

  it('is closed when those in flight have failed', async () => {
    const { peer, pool } = await createScene({ connections: 2 });
    const sent = [send(pool), send(pool)];
    await peer.until(({ requests }) => requests.length === 2);
    const closing = pool.close();
    for (const { socket } of peer.requests) socket.destroy();
    await closing;
    for (const { told } of sent) assert.deepEqual(told, ['begun', 'error']);
  });

  it('still sends later requests, and keeps no connection for them', async () => {
    const { peer, pool } = await createScene();
    peer.plays(answer);
    await pool.close();
    for (const path of ['/1', '/2']) {
      assert.equal((await send(pool, { path }).over).body, path);
      await peer.until(({ closed }) => closed === peer.sockets.length);
    }
    assert.equal(pool.openedCount, 2);
  });
});

describe('a pool that is destroyed', () => {
  it('ends all connections, without a report', async () => {
    const { peer, pool } = await createScene({ connections: 2 });
    const sent = [send(pool), send(pool), send(pool)];
    await peer.until(({ requests }) => requests.length === 2);
    pool.destroy();
    await peer.until(({ closed }) => closed === 2);
    await turns();
    assert.deepEqual(
      sent.map(({ told }) => told),
      [['begun'], ['begun'], []],
    );
    assert.equal(peer.sockets.length, 2);
  });

  it('ends connections that are being made, and waits for none of them', async () => {
    const { pool } = await createScene({ connectTimeoutMs: 60_000 });
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    const sent = send(pool);
    await turns(1);
    assert.ok(timers() > before, 'a connection is being made');
    pool.destroy();
    await turns();
    assert.equal(timers(), before);
    assert.deepEqual(sent.told, []);
  });

  it('keeps no timer of a connection during its name look-up', async () => {
    const { lookUp, held } = holdLookUps();
    const { pool } = await createScene({ connectTimeoutMs: 60_000 }, lookUp);
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    send(pool);
    await turns(1);
    assert.deepEqual([held.length, timers()], [1, before + 1]);
    pool.destroy();
    await turns();
    assert.equal(timers(), before);
  });

  it('resolves its close, also while a name is looked up', { timeout: 2000 }, async () => {
    for (const lookUp of [undefined, holdLookUps().lookUp]) {
      const { pool } = await createScene({}, lookUp);
      send(pool);
      await turns(1);
      const closing = pool.close();
      pool.destroy();
      await closing;
    }
  });

  it('can be destroyed again, and still sends later requests', async () => {
    const { peer, pool } = await createScene();
    peer.plays(answer);
    pool.destroy();
    pool.destroy();
    assert.equal((await send(pool, { path: '/1' }).over).body, '/1');
    await peer.until(({ closed }) => closed === 1);
  });
});
