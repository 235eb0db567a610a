// The connections to one origin: how many, for which requests, and the fate of the waiting ones.

import assert from 'node:assert/strict';
import type { LookupFunction, Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { PoolSettings } from '../../../../gateway/http1/client/pool.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { unusedPort } from '../../../support/upstream.ts';
import { type Recorder, send } from './handler.ts';
import { type Arrived, answer, counted, createPoolScene, holdLookUps, poolTo, turns, unknownName } from './peer.ts';

const start = closesAfterEach();

const createScene = (settings?: Partial<PoolSettings>, lookUp?: LookupFunction) =>
  createPoolScene(start, settings, lookUp);

describe('connections', () => {
  it('are used again, one request after the other', async () => {
    const { peer, pool } = await createScene({ connections: 4 });
    peer.plays(answer);
    for (const path of ['/1', '/2', '/3']) {
      const { told, status, body } = await send(pool, { path }).over;
      assert.deepEqual([told, status, body], [['begun', 'head', 'data', 'end'], 200, path]);
    }
    assert.equal(peer.sockets.length, 1);
    assert.equal(pool.openedCount, 1);
  });

  it('carry one request at a time, and are no more than allowed', async () => {
    const { peer, pool } = await createScene({ connections: 2 });
    const paths = ['/1', '/2', '/3', '/4', '/5'];
    const sent = paths.map((path) => send(pool, { path }));
    for (let answered = 0; answered < paths.length; answered++) {
      await peer.until(({ requests }) => requests.length === Math.min(answered + 2, paths.length));
      await turns();
      assert.equal(peer.requests.length, Math.min(answered + 2, paths.length));
      answer(peer.requests[answered] as Arrived);
    }
    const bodies = (await Promise.all(sent.map((one) => one.over))).map(({ body }) => body);
    assert.deepEqual(bodies, paths);
    assert.equal(pool.openedCount, 2);
  });

  it('are made only for waiting requests', async () => {
    const { peer, pool } = await createScene({ connections: 8 });
    peer.plays(answer);
    await Promise.all(['/1', '/2', '/3'].map((path) => send(pool, { path }).over));
    assert.equal(peer.sockets.length, 3);
  });

  it('serve waiting requests in their order', async () => {
    const { peer, pool } = await createScene();
    peer.plays(answer);
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`);
    await Promise.all(paths.map((path) => send(pool, { path }).over));
    assert.deepEqual(
      peer.requests.map(({ path }) => path),
      paths,
    );
  });

  it('serve the request that an answer leads to at once next', async () => {
    const { peer, pool } = await createScene();
    peer.plays(answer);
    const second = await new Promise<Recorder>((resolve) => {
      send(pool, {}, { end: () => resolve(send(pool, { path: '/second' })) });
    });
    assert.equal((await second.over).body, '/second');
    assert.equal(peer.sockets.length, 1);
  });

  it('are not made for a request that can have one in the next turn', async () => {
    const { peer, pool } = await createScene({ connections: 4 });
    peer.plays(answer);
    await send(pool).over;
    for (let i = 0; i < 10; i++) {
      const next = await new Promise<Recorder>((resolve) => {
        send(pool, {}, { end: () => resolve(send(pool)) });
      });
      await next.over;
    }
    assert.equal(pool.openedCount, 1);
  });

  it('are made anew in place of one that ended, for waiting requests', async () => {
    const { peer, pool } = await createScene();
    const [first, second] = [send(pool, { path: '/1' }), send(pool, { path: '/2' })];
    peer.plays((request) => (request.path === '/1' ? request.socket.destroy() : answer(request)));
    assert.deepEqual((await first.over).told, ['begun', 'error']);
    assert.equal((await second.over).body, '/2');
    assert.equal(pool.openedCount, 2);
  });
});

describe('a connection that is of no use from its beginning', () => {
  for (const [what, welcome] of [
    ['is greeted with bytes', (socket: Socket) => void socket.write(counted('greeting'))],
    ['is ended', (socket: Socket) => void socket.end()],
  ] as const) {
    it(`since it ${what} fails a request that was not sent, and is not made for ever`, async () => {
      const { peer, pool } = await createScene({ connections: 4 });
      peer.server.prependListener('connection', (socket) => {
        socket.setNoDelay();
        welcome(socket);
      });
      for (let i = 1; i <= 3; i++) {
        const { told, error, errorControl, body } = await send(pool).over;
        assert.equal(body, '');
        // The actions of the other side may come later than the request that does not wait for them.
        if (told[0] === 'error') assert.deepEqual([error?.code, errorControl], ['WIRE_INCOMPLETE', undefined]);
        assert.ok(pool.openedCount <= i, `${pool.openedCount} connections`);
      }
    });
  }
});

describe('a pool that isolates', () => {
  it('gives each request its own connection, with Connection: close', async () => {
    const { peer, pool } = await createScene({ connections: 2, isolate: true });
    peer.plays(answer);
    const paths = ['/1', '/2', '/3', '/4', '/5'];
    const bodies = (await Promise.all(paths.map((path) => send(pool, { path }).over))).map(({ body }) => body);
    assert.deepEqual(bodies, paths);
    await peer.until(({ closed }) => closed === paths.length);
    assert.equal(peer.sockets.length, paths.length);
    for (const { head } of peer.requests) assert.match(head, /\r\nconnection: close/);
  });
});

describe('a request that waits', () => {
  it('is skipped once it was given up, and nothing of it is written', async () => {
    const { peer, pool } = await createScene();
    const [first, second, third, fourth] = ['/1', '/2', '/3', '/4'].map((path) => send(pool, { path }));
    await peer.until(({ requests }) => requests.length === 1);
    for (const one of [second, third]) if (one) one.isEnded = true;
    peer.plays(answer);
    answer(peer.requests[0] as Arrived);
    await Promise.all([first?.over, fourth?.over]);
    assert.deepEqual(
      peer.requests.map(({ path }) => path),
      ['/1', '/4'],
    );
    assert.deepEqual([second?.told, third?.told], [[], []]);
  });

  it('needs no connection once it was given up', async () => {
    const { peer, pool } = await createScene();
    const given = send(pool, { path: '/given' });
    given.isEnded = true;
    await turns();
    assert.equal(peer.sockets.length, 0);
    assert.equal(pool.openedCount, 0);
  });

  it('gets no failure once it was given up', async () => {
    const pool = poolTo(`http://127.0.0.1:${await unusedPort()}`);
    const [first, given, last] = [send(pool), send(pool), send(pool)];
    given.isEnded = true;
    await Promise.all([first.over, last.over]);
    assert.deepEqual([first.told, given.told, last.told], [['error'], [], ['error']]);
  });

  it('that cannot be written is refused at once', async () => {
    const { peer, pool } = await createScene();
    assert.throws(() => send(pool, { path: '/\r\n' }), { code: 'WIRE_UNSENDABLE' });
    peer.plays(answer);
    assert.equal((await send(pool, { path: '/fine' }).over).body, '/fine');
    assert.equal(peer.requests.length, 1);
  });
});

describe('a connection that is not made', () => {
  it('fails each request once, before a byte of it has left', async () => {
    const pool = poolTo(`http://127.0.0.1:${await unusedPort()}`, { connections: 2 });
    const sent = Array.from({ length: 5 }, () => send(pool));
    await Promise.all(sent.map((one) => one.over));
    await turns();
    for (const { told, error, errorControl } of sent)
      assert.deepEqual([told, error?.code, errorControl], [['error'], 'ECONNREFUSED', undefined]);
    assert.equal(pool.openedCount, 0);
    await pool.close();
  });

  it('fails one request, not the others that wait', async () => {
    const { peer, pool } = await createScene({}, lookUpEach(['127.0.0.3', '127.0.0.1']));
    peer.plays(answer);
    const sent = ['/1', '/2', '/3'].map((path) => send(pool, { path }));
    const over = await Promise.all(sent.map((one) => one.over));
    assert.deepEqual(
      over.map(({ error, body }) => error?.code ?? body),
      ['ECONNREFUSED', '/2', '/3'],
    );
    assert.equal(pool.openedCount, 1);
  });

  it('fails no request for which another one is being made', async () => {
    const { peer, pool } = await createScene({ connections: 3 }, lookUpEach(['127.0.0.3', '127.0.0.1']));
    peer.plays(answer);
    const [given, alsoGiven, third] = [send(pool), send(pool), send(pool, { path: '/3' })];
    await turns(1);
    given.isEnded = true;
    alsoGiven.isEnded = true;
    const fourth = send(pool, { path: '/4' });
    const over = await Promise.all([third.over, fourth.over]);
    assert.deepEqual(
      over.map(({ body }) => body),
      ['/3', '/4'],
    );
    assert.equal(pool.openedCount, 2);
  });

  it('fails no request for which one is free', async () => {
    const { lookUp, held } = holdLookUps(1);
    const { peer, pool } = await createScene({ connections: 2 }, lookUp);
    peer.plays(answer);
    await Promise.all([send(pool).over, send(pool).over]);
    const third = send(pool, { path: '/3' });
    assert.equal(held.length, 1);
    held[0]?.(unknownName());
    await third.over;
    assert.deepEqual([third.told, third.body], [['begun', 'head', 'data', 'end'], '/3']);
  });

  it('fails a request that still waits for it, and none that was given up meanwhile', async () => {
    const { lookUp, held } = holdLookUps();
    const { pool } = await createScene({}, lookUp);
    const [given, second] = [send(pool), send(pool)];
    await turns(1);
    given.isEnded = true;
    held[0]?.(unknownName());
    await second.over;
    assert.deepEqual([given.told, second.told, second.error?.code], [[], ['error'], 'ENOTFOUND']);
    assert.equal(held.length, 1);
  });

  it('in time fails with a separate code, and another connection is tried for the waiting requests', async () => {
    const { peer, pool } = await createScene({ connectTimeoutMs: 40 }, lookUpEach([undefined, '127.0.0.1']));
    peer.plays(answer);
    const [first, second] = [send(pool, { path: '/1' }), send(pool, { path: '/2' })];
    assert.equal((await first.over).error?.code, 'WIRE_CONNECT_TIMEOUT');
    assert.equal((await second.over).body, '/2');
  });

  it('because its name is unknown fails with that', async () => {
    const unknown = unknownName();
    const pool = poolTo('http://service.test', {}, (_hostname, _options, callback) => callback(unknown, ''));
    assert.equal((await send(pool).over).error, unknown);
  });

  it('because its settings cannot be used fails the request alone', async () => {
    const pool = poolTo('https://127.0.0.1:1', { tls: { certificate: 'none', key: 'none' } });
    const [first, second] = [send(pool), send(pool)];
    assert.match((await first.over).error?.code ?? '', /^ERR_OSSL/);
    assert.deepEqual((await second.over).told, ['error']);
    await pool.close();
  });
});

/** Addresses for one look-up after the other, the last one for all that follow; undefined: none comes. */
function lookUpEach(addresses: readonly (string | undefined)[]): LookupFunction {
  const left = [...addresses];
  return (_hostname, _options, callback) => {
    const address = left.length > 1 ? left.shift() : left[0];
    if (address !== undefined) setImmediate(() => callback(null, [{ address, family: 4 }]));
  };
}
