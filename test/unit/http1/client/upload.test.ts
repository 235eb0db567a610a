// Bodies on their way to an upstream: whole, no faster than it reads, and released when the rest is not needed.

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { Control } from '../../../../gateway/http1/client/wire.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { startUpstream } from '../../../support/upstream.ts';
import { send } from './handler.ts';
import { answer, counted, createPoolScene, destroying, EMPTY, type Peer, poolTo, turns } from './peer.ts';

const start = closesAfterEach();

async function createScene() {
  const upstream = await start(startUpstream((_request, response) => response.end('answer')));
  const pool = poolTo(upstream.url);
  await start(destroying(pool));
  return { upstream, pool };
}

/** A peer of bytes, with connections that the test reads itself. */
const createPeerScene = () => createPoolScene(start);

function received(peer: Peer): string {
  return Buffer.concat(peer.received).toString('latin1');
}

/** Pieces given one after the other, and the result for their giver. */
function body(...pieces: readonly (string | Buffer | Error | Promise<string>)[]) {
  const state = { given: 0, isLetGo: false };
  async function* generate(): AsyncGenerator<Buffer> {
    try {
      for (const piece of pieces) {
        state.given += 1;
        const ready = await piece;
        if (ready instanceof Error) throw ready;
        yield Buffer.from(ready);
      }
    } finally {
      state.isLetGo = true;
    }
  }
  return Object.assign(generate(), { state });
}

describe('a body', () => {
  it('that is complete is sent with its length, however large, and the connection is used again', async () => {
    const { upstream, pool } = await createScene();
    const bodies = [0, 1, 65_536, 65_537, 3_000_000].map((length) => Buffer.alloc(length, 'xyz'));
    for (const whole of bodies) {
      const { told } = await send(pool, { method: 'POST', body: whole }).over;
      assert.equal(told.at(-1), 'end');
    }
    assert.deepEqual(
      upstream.requests.map(({ headers }) => headers['content-length']),
      bodies.map(({ length }) => String(length)),
    );
    for (const [i, { body: arrived }] of upstream.requests.entries()) assert.ok(arrived.equals(bodies[i] as Buffer));
    assert.equal(pool.openedCount, 1);
  });

  it('that streams leaves in chunks, and the connection is used again', async () => {
    const { upstream, pool } = await createScene();
    for (const pieces of [[], ['a'], ['one', '', 'two', 'x'.repeat(100_000), '']]) {
      await send(pool, { method: 'PUT', body: body(...pieces) }).over;
      const arrived = upstream.requests.at(-1);
      assert.equal(arrived?.body.toString(), pieces.join(''));
      assert.equal(arrived?.headers['transfer-encoding'], 'chunked');
    }
    assert.equal(pool.openedCount, 1);
  });

  it('that streams is sent unchanged if its length is known', async () => {
    const { upstream, pool } = await createScene();
    for (const pieces of [[''], ['one', 'two'], ['x'.repeat(70_000), 'y']]) {
      const headers = ['content-length', String(pieces.join('').length)];
      await send(pool, { method: 'POST', headers, body: body(...pieces) }).over;
      const arrived = upstream.requests.at(-1);
      assert.equal(arrived?.body.toString(), pieces.join(''));
      assert.equal(arrived?.headers['transfer-encoding'], undefined);
    }
    assert.equal(pool.openedCount, 1);
  });

  it('is framed byte for byte', async () => {
    const { peer, pool } = await createPeerScene();
    const sent = send(pool, { method: 'POST', body: body('0123456789abcdef', '\xe9') });
    await peer.until(() => received(peer).endsWith('0\r\n\r\n'));
    peer.sockets[0]?.write(EMPTY);
    await sent.over;
    const head = `POST / HTTP/1.1\r\nhost: 127.0.0.1:${peer.port}\r\nconnection: keep-alive\r\n`;
    const chunks = '10\r\n0123456789abcdef\r\n2\r\n\xc3\xa9\r\n0\r\n\r\n';
    assert.equal(received(peer), `${head}transfer-encoding: chunked\r\n\r\n${chunks}`);
  });

  it('that never begins keeps the head back, and then both leave', async () => {
    const { peer, pool } = await createPeerScene();
    const first = Promise.withResolvers<string>();
    const sent = send(pool, { method: 'POST', body: body(first.promise) });
    await sent.hears('begun');
    await turns(5);
    assert.equal(peer.requests.length, 0);
    peer.plays(({ socket }) => void socket.write(EMPTY));
    first.resolve('late');
    await sent.over;
    assert.equal(sent.status, 200);
  });

  it('is given no faster than the other side reads', async () => {
    const { peer, pool } = await createPeerScene();
    peer.server.on('connection', (socket) => socket.pause());
    const streamed = body(...Array.from({ length: 400 }, () => Buffer.alloc(100_000)));
    const sent = send(pool, { method: 'POST', body: streamed });
    await peer.until(({ sockets }) => sockets.length === 1);
    let given = -1;
    while (streamed.state.given !== given) {
      given = streamed.state.given;
      await turns(50);
    }
    assert.ok(given > 0 && given < 300, `${given} of 400 pieces were taken`);
    peer.sockets[0]?.resume();
    while (!streamed.state.isLetGo) await turns(1);
    assert.equal(streamed.state.given, 400);
    peer.sockets[0]?.write(counted('all'));
    assert.equal((await sent.over).body, 'all');
  });
});

describe('a body that streams with a known length', () => {
  for (const [what, length] of [
    ['longer', '5'],
    ['shorter', '50'],
  ] as const) {
    it(`is given up with its connection when it is ${what}`, async () => {
      const { peer, pool } = await createPeerScene();
      const rest = Promise.withResolvers<string>();
      const streamed = body('abc', rest.promise);
      const sent = send(pool, { method: 'POST', headers: ['content-length', length], body: streamed });
      await peer.until(() => received(peer).endsWith('abc'));
      rest.resolve('defGET / HTTP/1.1');
      await sent.over;
      assert.deepEqual([sent.told, sent.error?.code], [['begun', 'error'], 'WIRE_UNSENDABLE']);
      await peer.until(({ closed }) => closed === 1);
      if (what === 'longer') assert.ok(!received(peer).includes('GET'), 'the bytes that are too many for it have left');
      await pool.close();
    });
  }
});

describe('a body that has not begun', () => {
  for (const how of ['in a turn of its own', 'in the turn in which the body begins'] as const) {
    it(`is not answered by bytes that come unrequested ${how}`, async () => {
      const { peer, pool } = await createPeerScene();
      peer.plays(({ socket, path }) => void socket.write(counted(path)));
      await send(pool, { path: '/first' }).over;
      await turns(2);
      const first = Promise.withResolvers<string>();
      const sent = send(pool, { method: 'POST', path: '/second', body: body(first.promise) });
      await sent.hears('begun');
      peer.sockets[0]?.write(counted('forged'));
      if (how === 'in a turn of its own') await turns(3);
      first.resolve('body');
      const { told, error, body: answered } = await sent.over;
      assert.deepEqual([told, answered], [['begun', 'error'], '']);
      assert.match(error?.code ?? '', /^WIRE_/);
      assert.equal(peer.requests.length, 1);
    });
  }
});

describe('a body with an early answer', () => {
  it('is let go of, the answer stands, and the connection is closed', async () => {
    const { peer, pool } = await createPeerScene();
    peer.plays(({ socket }) => void socket.write(counted('early')));
    const later = Promise.withResolvers<string>();
    const streamed = body('first', later.promise, 'never');
    const sent = await send(pool, { method: 'POST', body: streamed }).over;
    assert.deepEqual([sent.told, sent.body], [['begun', 'head', 'data', 'end'], 'early']);
    await peer.until(({ closed }) => closed === 1);
    later.resolve('second');
    while (!streamed.state.isLetGo) await turns(1);
    assert.equal(streamed.state.given, 2);
    assert.equal((await send(pool).over).body, 'early');
    assert.equal(pool.openedCount, 2);
  });

  it('is let go of also while the other side does not read', async () => {
    const { peer, pool } = await createPeerScene();
    peer.server.on('connection', (socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write(counted('early'));
      });
    });
    const streamed = body(...Array.from({ length: 400 }, () => Buffer.alloc(100_000)));
    const sent = await send(pool, { method: 'POST', body: streamed }).over;
    assert.deepEqual([sent.told.at(-1), sent.body], ['end', 'early']);
    while (!streamed.state.isLetGo) await turns(1);
    assert.ok(streamed.state.given < 400);
  });

  it('and fails afterwards is no failure any more', async () => {
    const { peer, pool } = await createPeerScene();
    peer.plays(({ socket }) => void socket.write(counted('early')));
    const later = Promise.withResolvers<string>();
    const sent = await send(pool, { method: 'POST', body: body('first', later.promise) }).over;
    later.reject(new Error('of the body'));
    await turns(5);
    assert.deepEqual(sent.told, ['begun', 'head', 'data', 'end']);
  });

  it('and is whole in itself closes the connection where the other side has not read it all', async () => {
    const { peer, pool } = await createPeerScene();
    peer.server.once('connection', (socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write(counted('early'));
      });
    });
    const sent = await send(pool, { method: 'POST', body: Buffer.alloc(20_000_000) }).over;
    assert.deepEqual([sent.told.at(-1), sent.body], ['end', 'early']);
    peer.plays(({ socket }) => void socket.write(counted('next')));
    assert.equal((await send(pool).over).body, 'next');
    assert.equal(pool.openedCount, 2);
  });
});

describe('a body that fails', () => {
  it('fails its request with that, and the connection is closed', async () => {
    const failure = new Error('of the body');
    for (const pieces of [[failure], ['first', failure]]) {
      const { peer, pool } = await createPeerScene();
      const sent = await send(pool, { method: 'POST', body: body(...pieces) }).over;
      assert.deepEqual([sent.told, sent.error], [['begun', 'error'], failure]);
      await peer.until(({ closed }) => closed === 1);
      assert.equal(peer.requests.length, pieces.length - 1);
    }
  });

  it('in the middle is never taken for whole', async () => {
    const outcome = Promise.withResolvers<string>();
    const onRequest: RequestListener = (request) =>
      request
        .on('end', () => outcome.resolve('whole'))
        .on('error', () => outcome.resolve('cut off'))
        .resume();
    const server = createServer(onRequest);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await start({ destroy: () => void server.close() });
    const pool = poolTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await start(destroying(pool));
    const later = Promise.withResolvers<string>();
    server.once('request', () => later.reject(new Error('of the body')));
    await send(pool, { method: 'POST', body: body('first', later.promise) }).over;
    assert.equal(await outcome.promise, 'cut off');
  });
});

describe('a body of a request that is given up', () => {
  for (const throws of [false, true]) {
    it(`at its begin is not requested${throws ? ', also when that is thrown' : ''}`, async () => {
      const { peer, pool } = await createPeerScene();
      const streamed = body('first');
      const begun = (control: Control) => {
        control.abort();
        if (throws) throw new Error('given up');
      };
      const sent = send(pool, { method: 'POST', body: streamed }, { begun });
      await peer.until(({ closed }) => closed === 1);
      await turns(5);
      assert.deepEqual([streamed.state.given, sent.told, peer.requests.length], [0, ['begun'], 0]);
      peer.plays(answer);
      assert.equal((await send(pool, { path: '/next' }).over).body, '/next');
    });
  }

  it('later is let go of, also while the other side does not read', async () => {
    const { peer, pool } = await createPeerScene();
    peer.server.on('connection', (socket) => socket.pause());
    const streamed = body(...Array.from({ length: 400 }, () => Buffer.alloc(100_000)));
    const sent = send(pool, { method: 'POST', body: streamed });
    while (streamed.state.given < 2) await turns(1);
    await turns(20);
    sent.control?.abort();
    while (!streamed.state.isLetGo) await turns(1);
    assert.deepEqual(sent.told, ['begun']);
  });

  it('by the other side fails with that, and it is let go of', async () => {
    const { peer, pool } = await createPeerScene();
    peer.plays(({ socket }) => socket.resetAndDestroy());
    const later = Promise.withResolvers<string>();
    const streamed = body('first', later.promise, 'never');
    const sent = await send(pool, { method: 'POST', body: streamed }).over;
    assert.ok(['ECONNRESET', 'EPIPE'].includes(sent.error?.code ?? ''), sent.error?.code);
    later.resolve('second');
    while (!streamed.state.isLetGo) await turns(1);
    assert.deepEqual([sent.told, streamed.state.given], [['begun', 'error'], 2]);
  });
});
