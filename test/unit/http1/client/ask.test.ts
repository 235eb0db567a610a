// One request and its complete answer, a fault of the connection, or a caller that has cancelled.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { ask } from '../../../../gateway/http1/client/ask.ts';
import type { Outgoing } from '../../../../gateway/http1/client/wire.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { unusedPort } from '../../../support/upstream.ts';
import { destroying, poolTo, startPeer, turns } from './peer.ts';

const start = closesAfterEach();
const request: Outgoing = { method: 'GET', path: '/', headers: [], body: null };

async function createScene(text = '') {
  const peer = await start(startPeer());
  const pool = poolTo(peer.origin);
  await start(destroying(pool));
  peer.plays(({ socket }) => void socket.write(text));
  const aborter = new AbortController();
  return { peer, pool, aborter, listeners: () => getEventListeners(aborter.signal, 'abort').length };
}

const CHUNKED = 'HTTP/1.1 404 Not Found\r\nx: y\r\ntransfer-encoding: chunked\r\n\r\n4\r\nsome\r\n5\r\n body\r\n';

describe('a caller', () => {
  it('gets the whole answer', async () => {
    const { pool, aborter, listeners } = await createScene(`${CHUNKED}0\r\n\r\n`);
    const { status, headers, body } = await ask(pool, request, aborter.signal);
    assert.deepEqual([status, headers.x, body.toString()], [404, 'y', 'some body']);
    assert.equal(listeners(), 0);
  });

  it('gets an empty body if there is none', async () => {
    const { pool, aborter } = await createScene('HTTP/1.1 204 No Content\r\n\r\n');
    const { status, body } = await ask(pool, request, aborter.signal);
    assert.deepEqual([status, body.length], [204, 0]);
  });

  it('gets the fault of the answer', async () => {
    const { pool, aborter, listeners } = await createScene(`${CHUNKED}x\r\n`);
    await assert.rejects(ask(pool, request, aborter.signal), { code: 'WIRE_MALFORMED' });
    assert.equal(listeners(), 0);
  });

  it('gets the error that there is no connection', async () => {
    const pool = poolTo(`http://127.0.0.1:${await unusedPort()}`);
    await assert.rejects(ask(pool, request, new AbortController().signal), { code: 'ECONNREFUSED' });
  });

  it('gets the error that the request cannot be written, and leaves nothing behind', async () => {
    const { pool, aborter, listeners } = await createScene();
    await assert.rejects(ask(pool, { ...request, path: '/ ' }, aborter.signal), { code: 'WIRE_UNSENDABLE' });
    assert.equal(listeners(), 0);
  });
});

describe('a caller that needs the head alone', () => {
  it('has it at once, and the connection is closed without the rest', { timeout: 2000 }, async () => {
    const { peer, pool } = await createScene('HTTP/1.1 200 OK\r\n\r\nabc');
    const { status, body } = await ask(pool, request, AbortSignal.timeout(1000), false);
    assert.deepEqual([status, body.length], [200, 0]);
    await peer.until(({ closed }) => closed === 1);
  });
});

describe('a caller that gives up', () => {
  const reason = new Error('given up');

  it('before that sends nothing', async () => {
    const { peer, pool } = await createScene();
    await assert.rejects(ask(pool, request, AbortSignal.abort(reason)), reason);
    await turns(5);
    assert.equal(peer.sockets.length, 0);
  });

  it('before there is a connection sends nothing', async () => {
    const { peer, pool, aborter, listeners } = await createScene();
    const asked = ask(pool, request, aborter.signal);
    await turns(1);
    aborter.abort(reason);
    await assert.rejects(asked, reason);
    await pool.close();
    await peer.until(({ sockets, closed }) => sockets.length === 1 && closed === 1);
    assert.deepEqual([peer.requests.length, listeners()], [0, 0]);
  });

  it('before the answer closes the connection', async () => {
    const { peer, pool, aborter } = await createScene();
    const asked = ask(pool, request, aborter.signal);
    await peer.until(({ requests }) => requests.length === 1);
    aborter.abort(reason);
    await assert.rejects(asked, reason);
    await peer.until(({ closed }) => closed === 1);
  });

  it('in the middle of the answer closes the connection', async () => {
    const { peer, pool, aborter } = await createScene(CHUNKED);
    const asked = ask(pool, request, aborter.signal);
    await peer.until(({ requests }) => requests.length === 1);
    await turns(5);
    aborter.abort(reason);
    await assert.rejects(asked, reason);
    await peer.until(({ closed }) => closed === 1);
  });

  it('after the answer still has the answer', async () => {
    const { peer, pool, aborter } = await createScene(`${CHUNKED}0\r\n\r\n`);
    const { status } = await ask(pool, request, aborter.signal);
    aborter.abort(reason);
    assert.equal(status, 404);
    await ask(pool, request, new AbortController().signal);
    assert.equal(peer.sockets.length, 1);
  });
});
