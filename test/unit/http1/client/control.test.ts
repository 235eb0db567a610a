// The handler of an answer slows it down or gives it up, and may throw in doing so.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Control } from '../../../../gateway/http1/client/wire.ts';
import { createAuthority } from '../../../support/certificates.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { type Reactions, send, slowly, type Told } from './handler.ts';
import { type Arrived, counted, destroying, poolTo, startPeer, turns } from './peer.ts';

const start = closesAfterEach();
const authority = createAuthority();
const { certificate: cert, key } = authority.issue({ names: ['127.0.0.1'] });

async function createScene(text = counted('body'), then?: (request: Arrived) => void) {
  const peer = await start(startPeer());
  const pool = poolTo(peer.origin);
  await start(destroying(pool));
  peer.plays((request) => {
    request.socket.write(text);
    then?.(request);
  });
  return { peer, pool };
}

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

describe('an answer that is paused', () => {
  for (const [at, held] of [
    ['begun', ['begun']],
    ['head', ['begun', 'head']],
    ['data', ['begun', 'head', 'data']],
  ] as const) {
    it(`at ${at} continues at the same place, with the bytes of the same read, and its connection is used again`, async () => {
      const { peer, pool } = await createScene();
      for (let i = 0; i < 2; i++) {
        const sent = send(pool, {}, { [at]: (control: Control) => control.pause() });
        await sent.hears(at);
        await peer.until(({ requests }) => requests.length === i + 1);
        await turns(5);
        assert.deepEqual([sent.told, sent.control?.paused], [held, true]);
        sent.control?.resume();
        await sent.over;
        assert.deepEqual([sent.told, sent.body], [['begun', 'head', 'data', 'end'], 'body']);
      }
      assert.equal((await send(pool).over).body, 'body');
      assert.equal(peer.sockets.length, 1);
    });
  }

  it('after each piece gets one piece at a time, in order', async () => {
    const { pool } = await createScene(`${CHUNKED}1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n`);
    const bodies: string[] = [];
    const sent = send(pool, {}, { data: (control) => control.pause() });
    for (const body of ['a', 'ab', 'abc']) {
      await turns(5);
      await sent.hears('data');
      bodies.push(sent.body);
      assert.deepEqual([sent.body, sent.told.includes('end')], [body, false]);
      sent.control?.resume();
    }
    await sent.over;
    assert.deepEqual(sent.told, ['begun', 'head', 'data', 'end']);
  });

  it('holds back the bytes of later reads', async () => {
    const { peer, pool } = await createScene(`${CHUNKED}1\r\na\r\n`);
    const sent = send(pool, {}, { data: (control) => control.pause() });
    await sent.hears('data');
    peer.sockets[0]?.write('1\r\nb\r\n0\r\n\r\n');
    await turns(5);
    assert.deepEqual([sent.body, sent.told], ['a', ['begun', 'head', 'data']]);
    sent.control?.resume();
    while (sent.body !== 'ab') await turns(1);
    sent.control?.resume();
    assert.equal((await sent.over).told.at(-1), 'end');
  });

  it('holds the other side up', async () => {
    const piece = Buffer.alloc(1_048_576);
    const { peer, pool } = await createScene(
      `HTTP/1.1 200 OK\r\ncontent-length: ${64 * piece.length}\r\n\r\n`,
      (request) => {
        for (let i = 0; i < 64; i++) request.socket.write(piece);
      },
    );
    const sent = send(pool, {}, { head: (control) => control.pause() });
    await sent.hears('head');
    await turns(100);
    assert.ok((peer.sockets[0]?.writableLength ?? 0) > 32 * piece.length, 'most of it has not left');
    sent.control?.resume();
    assert.equal((await sent.over).body.length, 64 * piece.length);
  });

  it('and resumed at once is not slowed down', async () => {
    const { pool } = await createScene();
    const both = (control: Control) => {
      control.pause();
      control.resume();
    };
    const { told, body } = await send(pool, {}, { begun: both, head: both, data: both, end: both }).over;
    assert.deepEqual([told, body], [['begun', 'head', 'data', 'end'], 'body']);
    assert.equal((await send(pool).over).body, 'body');
  });

  it('ends with its connection only after the bytes before its end', async () => {
    const { pool } = await createScene('HTTP/1.1 200 OK\r\n\r\nbody', ({ socket }) => socket.end());
    const sent = send(pool, {}, { head: (control) => control.pause() });
    await sent.hears('head');
    await turns(5);
    assert.deepEqual(sent.told, ['begun', 'head']);
    sent.control?.resume();
    await sent.over;
    assert.deepEqual([sent.told, sent.body], [['begun', 'head', 'data', 'end'], 'body']);
  });

  const body = 'b'.repeat(40_000);
  for (const [what, text, end] of [
    ['has a length', counted(body, 'connection: close\r\n'), 'end'],
    ['is chunked', `${CHUNKED}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`, 'end'],
    ['ends with the connection', `HTTP/1.1 200 OK\r\n\r\n${body}`, 'end'],
    ['is not whole', counted(`${body}.`).slice(0, -1), 'error'],
  ] as const) {
    it(`over TLS is not lost when the other side has closed already, and ${what}`, async () => {
      const peer = await start(startPeer({ cert, key }));
      peer.plays(({ socket }) => socket.end(text));
      const pool = poolTo(peer.origin, { tls: { ca: authority.certificate } });
      await start(destroying(pool));
      const sent = send(pool, {}, { head: (control) => control.pause() });
      await sent.hears('head');
      await turns(50);
      assert.deepEqual(sent.told, ['begun', 'head']);
      sent.control?.resume();
      await sent.over;
      assert.deepEqual([sent.told, sent.body], [['begun', 'head', 'data', end], body]);
      if (end === 'error') assert.equal(sent.error?.code, 'WIRE_INCOMPLETE');
      await peer.until(({ closed }) => closed === 1);
    });
  }
});

describe('an answer that is taken slowly', () => {
  // More than is read at once.
  const body = 'b'.repeat(100_000);
  for (const isSecure of [false, true]) {
    for (const [what, text, end] of [
      ['has a length', counted(body), 'end'],
      ['is chunked', `${CHUNKED}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`, 'end'],
      ['ends with the connection', `HTTP/1.1 200 OK\r\n\r\n${body}`, 'end'],
      ['is not whole', counted(`${body}.`).slice(0, -1), 'error'],
    ] as const) {
      const name = `is not lost when the other side closes after it, and ${what}`;
      it(`${isSecure ? 'over TLS ' : ''}${name}`, async () => {
        const peer = await start(startPeer(isSecure ? { cert, key } : undefined));
        peer.plays(({ socket }) => socket.end(text));
        const pool = poolTo(peer.origin, { tls: { ca: authority.certificate } });
        await start(destroying(pool));
        const sent = await send(pool, {}, slowly).over;
        assert.deepEqual([sent.told, sent.status, sent.body], [['begun', 'head', 'data', end], 200, body]);
        if (end === 'error') assert.equal(sent.error?.code, 'WIRE_INCOMPLETE');
        await pool.close();
      });
    }
  }
});

const moments: readonly Told[] = ['begun', 'head', 'data'];

describe('an answer that is given up', () => {
  for (const at of moments) {
    it(`at ${at} closes the connection, and its handler is not called again`, async () => {
      const { peer, pool } = await createScene();
      const sent = send(pool, {}, { [at]: (control: Control) => control.abort() });
      await peer.until(({ closed }) => closed === 1);
      await turns(5);
      assert.deepEqual(sent.told, ['begun', 'head', 'data'].slice(0, moments.indexOf(at) + 1));
      assert.equal(peer.requests.length, at === 'begun' ? 0 : 1);
      assert.equal((await send(pool).over).body, 'body');
    });
  }

  it('while it is paused closes the connection, and resuming it is nothing', async () => {
    const { peer, pool } = await createScene();
    const sent = send(pool, {}, { head: (control) => control.pause() });
    await sent.hears('head');
    sent.control?.abort();
    sent.control?.resume();
    sent.control?.abort();
    await peer.until(({ closed }) => closed === 1);
    assert.deepEqual(sent.told, ['begun', 'head']);
  });

  it('after its end is no matter, nor for the request that has its connection now', async () => {
    const { peer, pool } = await createScene();
    const first = await send(pool).over;
    const second = send(
      pool,
      {},
      {
        head() {
          first.control?.pause();
          first.control?.abort();
          first.control?.resume();
        },
      },
    );
    assert.equal((await second.over).body, 'body');
    assert.equal(peer.sockets.length, 1);
  });
});

describe('a handler that throws', () => {
  const failure = new Error('of the handler');
  const fails = () => {
    throw failure;
  };
  for (const at of [...moments, 'end'] as const) {
    it(`at ${at} reports that once, and the connection is closed`, { timeout: 2000 }, async () => {
      const { peer, pool } = await createScene();
      const sent = await send(pool, {}, { [at]: fails }).hears('error');
      assert.equal(sent.error, failure);
      assert.equal(sent.errorControl, sent.control);
      await peer.until(({ closed }) => closed === 1);
      await turns(5);
      assert.deepEqual(sent.told, [...['begun', 'head', 'data', 'end'].slice(0, sent.told.length - 1), 'error']);
      assert.equal(sent.told.at(-2), at);
      assert.equal(peer.requests.length, at === 'begun' ? 0 : 1);
      assert.equal((await send(pool).over).body, 'body');
    });
  }

  it('after giving it up is not reported', async () => {
    for (const at of moments) {
      const { peer, pool } = await createScene();
      const reactions: Reactions = {
        [at]: (control: Control) => {
          control.abort();
          fails();
        },
      };
      const sent = send(pool, {}, reactions);
      await peer.until(({ closed }) => closed === 1);
      await turns(5);
      assert.equal(sent.told.at(-1), at);
    }
  });
});
