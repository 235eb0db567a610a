// One connection: when it carries another request, and the end of an answer that it cuts off.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../../support/closing.ts';
import { send, type Told } from './handler.ts';
import { type Arrived, counted, destroying, EMPTY, poolTo, startPeer, turns } from './peer.ts';

const start = closesAfterEach();

async function createScene() {
  const peer = await start(startPeer());
  const pool = poolTo(peer.origin);
  await start(destroying(pool));
  const plays = (text: string, then?: (request: Arrived) => void) =>
    peer.plays((request) => {
      request.socket.write(text, 'latin1');
      then?.(request);
    });
  return { peer, pool, plays };
}

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

describe('a connection', () => {
  for (const [what, text, method] of [
    ['has a length', counted('body')],
    ['is chunked', `${CHUNKED}2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n`],
    ['has no body', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['answers HEAD', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n', 'HEAD'],
    ['comes after an interim one', `HTTP/1.1 100 Continue\r\n\r\n${counted('body')}`],
    ['is HTTP/1.0 that keeps it', 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 4\r\n\r\nbody'],
  ] as const) {
    it(`carries the next request after an answer that ${what}`, async () => {
      const { peer, pool, plays } = await createScene();
      plays(text);
      for (let i = 0; i < 3; i++) {
        const { told, body } = await send(pool, { method: method ?? 'GET' }).over;
        assert.equal(told.at(-1), 'end');
        assert.equal(body, text.includes('dy') ? 'body' : '');
      }
      assert.deepEqual([peer.sockets.length, peer.closed], [1, 0]);
    });
  }

  for (const [what, text] of [
    ['says so', counted('body', 'connection: close\r\n')],
    ['is HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\nbody'],
    ['is HTTP/1.0 with Connection: close', 'HTTP/1.0 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbody'],
    ['is followed by unrequested bytes', `${counted('body')}${counted('other')}`],
    ['is followed by a line end', `${counted('body')}\r\n`],
  ] as const) {
    it(`is closed after an answer that ${what}, which stands`, async () => {
      const { peer, pool, plays } = await createScene();
      plays(text);
      const { told, body } = await send(pool).over;
      assert.deepEqual([told, body], [['begun', 'head', 'data', 'end'], 'body']);
      await peer.until(({ closed }) => closed === 1);
      plays(counted('next'));
      assert.equal((await send(pool).over).body, 'next');
      assert.equal(peer.sockets.length, 2);
    });
  }

  it('ends an answer that does not say how it ends, and carries no other', async () => {
    const { peer, pool, plays } = await createScene();
    plays('HTTP/1.1 200 OK\r\n\r\nbody', ({ socket }) => socket.end(', more'));
    const { told, body } = await send(pool).over;
    assert.deepEqual([told, body], [['begun', 'head', 'data', 'end'], 'body, more']);
    plays(EMPTY);
    await send(pool).over;
    assert.equal(peer.sockets.length, 2);
  });

  it('gives each request its own answer, without parts of the previous one', async () => {
    const { peer, pool } = await createScene();
    peer.plays(({ socket, path }) => void socket.write(counted(path, `x-path: ${path}\r\n`)));
    for (const path of ['/1', '/22', '/3']) {
      const { body, headers } = await send(pool, { path }).over;
      assert.deepEqual([body, headers['x-path'], headers['content-length']], [path, path, String(path.length)]);
    }
    assert.equal(peer.sockets.length, 1);
  });

  it('sends the request byte for byte', async () => {
    const { peer, pool, plays } = await createScene();
    plays(EMPTY);
    await send(pool, { method: 'DELETE', path: '/a?b=\xe9', headers: ['accept', '*/*', 'x', '\xff'] }).over;
    assert.equal(
      peer.requests[0]?.head,
      `DELETE /a?b=\xe9 HTTP/1.1\r\nhost: 127.0.0.1:${peer.port}\r\nconnection: keep-alive\r\naccept: */*\r\nx: \xff`,
    );
  });
});

describe('a connection that is free', () => {
  it('is closed when unrequested bytes come, which are no answer to the next request', async () => {
    const { peer, pool, plays } = await createScene();
    plays(EMPTY);
    await send(pool).over;
    peer.sockets[0]?.write(counted('forged'));
    await peer.until(({ closed }) => closed === 1);
    plays(counted('true'));
    assert.equal((await send(pool).over).body, 'true');
  });

  it('is closed by such bytes also when a request comes in the same turn', async () => {
    const { peer, pool, plays } = await createScene();
    plays(EMPTY);
    await send(pool).over;
    plays(counted('true'));
    await turns(1);
    peer.sockets[0]?.write(counted('forged'));
    assert.equal((await send(pool).over).body, 'true');
    assert.equal(peer.sockets.length, 2);
  });

  for (const how of ['end', 'resetAndDestroy'] as const) {
    it(`is not used when the other side has closed it in the same turn: ${how}`, async () => {
      const { peer, pool, plays } = await createScene();
      plays(counted('body'));
      await send(pool).over;
      await turns(1);
      peer.sockets[0]?.[how]();
      const { told, body } = await send(pool).over;
      assert.deepEqual([told, body], [['begun', 'head', 'data', 'end'], 'body']);
      assert.equal(peer.requests.length, 2);
    });
  }
});

describe('an answer that is cut off', () => {
  const rows: readonly (readonly [where: string, text: string, told: readonly Told[]])[] = [
    ['before its first byte', '', ['begun']],
    ['in its head', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n', ['begun']],
    ['after an interim one', 'HTTP/1.1 100 Continue\r\n\r\n', ['begun']],
    ['after its head', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n', ['begun', 'head']],
    ['in its body', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbod', ['begun', 'head', 'data']],
    ['in the size of a chunk', `${CHUNKED}4`, ['begun', 'head']],
    ['in a chunk', `${CHUNKED}4\r\nbod`, ['begun', 'head', 'data']],
    ['between two chunks', `${CHUNKED}4\r\nbody\r\n`, ['begun', 'head', 'data']],
    ['after its last chunk', `${CHUNKED}4\r\nbody\r\n0\r\n`, ['begun', 'head', 'data']],
  ];
  for (const [where, text, told] of rows) {
    it(`${where} is not whole`, async () => {
      const { peer, pool, plays } = await createScene();
      plays(text, ({ socket }) => socket.end());
      const sent = await send(pool).over;
      assert.deepEqual([sent.told, sent.error?.code], [[...told, 'error'], 'WIRE_INCOMPLETE']);
      assert.equal(sent.errorControl, sent.control);
      await peer.until(({ closed }) => closed === 1);
    });
  }

  it('by a reset fails with that, also where it could have ended with the connection', async () => {
    for (const text of [counted('body').slice(0, -1), 'HTTP/1.1 200 OK\r\n\r\nbody']) {
      const { peer, pool, plays } = await createScene();
      plays(text);
      const sent = send(pool);
      await sent.hears('data');
      peer.sockets[0]?.resetAndDestroy();
      assert.equal((await sent.over).error?.code, 'ECONNRESET');
      assert.deepEqual(sent.told, ['begun', 'head', 'data', 'error']);
    }
  });
});

describe('a malformed answer', () => {
  for (const [what, text, code] of [
    ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n\r\n', 'WIRE_MALFORMED'],
    ['a head without an end', `HTTP/1.1 200 OK\r\nx: ${'v'.repeat(20_000)}`, 'WIRE_HEAD_TOO_LARGE'],
    ['one with two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx', 'WIRE_MALFORMED'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 'WIRE_MALFORMED'],
  ] as const) {
    it(`since it is ${what} fails the request and closes the connection`, async () => {
      const { peer, pool, plays } = await createScene();
      plays(text);
      const { told, error } = await send(pool).over;
      assert.deepEqual([told, error?.code], [['begun', 'error'], code]);
      await peer.until(({ closed }) => closed === 1);
    });
  }

  it('any more fails it in the middle', async () => {
    const { peer, pool, plays } = await createScene();
    plays(`${CHUNKED}4\r\nbody\r\nx\r\n`);
    const { told, error, body } = await send(pool).over;
    assert.deepEqual([told, error?.code, body], [['begun', 'head', 'data', 'error'], 'WIRE_MALFORMED', 'body']);
    await peer.until(({ closed }) => closed === 1);
  });
});
