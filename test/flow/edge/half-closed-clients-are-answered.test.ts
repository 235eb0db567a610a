// A client that ends its side of the connection after a whole request gets its answer; if it has left altogether, the gateway drops the
// connection and ends its work.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { type Answer, type Connection, openConnection, requestOf, until } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { startHoldingUpstream } from '../../support/holding-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { sampleOf, startSecureGateway } from '../tls/secure-gateway.ts';

const upstream = await startHoldingUpstream();
const gateway = await startGateway(thingsAt(upstream.url));
const headers = { Authorization: (await gateway.authorize()).authorization };
after(async () => {
  upstream.letAllGo();
  await gateway.stop();
  await upstream.close();
});

const statuses = () => gateway.logLines().flatMap(({ status }) => (status === undefined ? [] : [status]));
const created = () => requestOf('POST /v1/things', { ...headers, 'Content-Type': 'application/json' }, '{"name":"a"}');

/** Without the interim answers that probe whether a waiting client is still there. */
async function finalAnswer(client: Connection): Promise<Answer | undefined> {
  const answer = await client.answer();
  return answer?.status === 100 ? finalAnswer(client) : answer;
}

describe('a client that closes its half', () => {
  it('after a write gets the answer to it', async () => {
    const client = await openConnection(gateway.port);
    client.send(created());
    client.socket.end();
    await until(() => upstream.held() === 1);
    upstream.letGo();
    assert.equal((await finalAnswer(client))?.status, 201);
    assert.equal(await client.closed, 'end');
    await until(() => statuses().at(-1) === 201);
  });

  it('after several requests gets all answers', async () => {
    const client = await openConnection(gateway.port);
    client.send(Buffer.concat([requestOf('GET /v1/things', headers), requestOf('GET /v1/nothing')]));
    client.socket.end();
    await until(() => upstream.held() === 1);
    upstream.letGo();
    assert.deepEqual([(await finalAnswer(client))?.status, (await finalAnswer(client))?.status], [200, 404]);
    assert.equal(await client.closed, 'end');
  });

  it('and waits for long is probed by an interim answer, and gets its answer', async () => {
    const client = await openConnection(gateway.port);
    client.send(created());
    client.socket.end();
    assert.equal((await client.answer())?.status, 100);
    upstream.letGo();
    assert.equal((await client.answer())?.status, 201);
    assert.equal(await client.closed, 'end');
  });

  it('of HTTP/1.0 gets no interim answer', async () => {
    const client = await openConnection(gateway.port);
    client.send(requestOf('GET /v1/things', headers).toString().replace('HTTP/1.1', 'HTTP/1.0'));
    client.socket.end();
    await until(() => upstream.held() === 1);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    upstream.letGo();
    assert.equal((await client.answer())?.status, 200);
    assert.equal(await client.closed, 'end');
  });

  it('in the middle of a request is refused', async () => {
    const client = await openConnection(gateway.port);
    client.send(
      `${requestOf('POST /v1/things', { ...headers, 'Content-Type': 'application/json', 'Content-Length': '100' })}{`,
    );
    client.socket.end();
    assert.equal((await client.answer())?.error.code, 'malformed_http');
    assert.equal(await client.closed, 'end');
  });

  it('without a request is closed', async () => {
    const client = await openConnection(gateway.port);
    client.socket.end();
    assert.equal(await client.closed, 'end');
  });
});

describe('a client that leaves while it waits', () => {
  const leaves: Readonly<Record<string, (socket: Socket) => void>> = {
    'by closing its connection': (socket) => socket.destroy(),
    'with a reset': (socket) => socket.resetAndDestroy(),
    'by closing its half, then its connection': (socket) => socket.end(() => socket.destroy()),
  };
  for (const [how, leave] of Object.entries(leaves)) {
    it(how, async () => {
      const lines = statuses().length;
      const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(requestOf('GET /v1/things', headers));
      await until(() => upstream.held() === 1);
      leave(socket);
      await until(() => statuses().length > lines);
      assert.equal(statuses().at(-1), 499);
      assert.equal(await sampleOf(gateway, 'http_server_active_requests'), 0);
      upstream.letGo();
    });
  }
});

it('over TLS a client that closes its half gets its answer', async () => {
  const secure = await startSecureGateway();
  after(() => secure.close());
  const socket = await secure.connect();
  socket.end(requestOf('GET /v1/things', { Authorization: secure.authorization }));
  const text = Buffer.concat(await socket.toArray()).toString();
  assert.match(text, /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 200 /);
  const left = await secure.connect();
  left.end();
  await once(left.resume(), 'close');
});

describe('over TLS a client that leaves while it waits', () => {
  const leaves: Readonly<Record<string, (socket: TLSSocket, raw: Socket) => void>> = {
    'by closing its connection': (socket) => socket.destroy(),
    'by closing the connection beneath': (_socket, raw) => raw.destroy(),
    'with a reset beneath': (_socket, raw) => raw.resetAndDestroy(),
    'by closing its half, then its connection': (socket) => socket.end(() => socket.destroy()),
  };
  for (const [how, leave] of Object.entries(leaves)) {
    it(how, async () => {
      const secure = await startSecureGateway({ answer: () => undefined });
      after(() => secure.close());
      const raw = connect(secure.gateway.port, '127.0.0.1').on('error', () => undefined);
      const socket = await secure.connect({ socket: raw });
      socket.on('error', () => undefined);
      socket.write(requestOf('GET /v1/things', { Authorization: secure.authorization }));
      await until(() => secure.upstream.requests.length === 1);
      leave(socket, raw);
      await until(() => secure.gateway.logLines().some(({ status }) => status === 499));
      assert.equal(await sampleOf(secure.gateway, 'http_server_active_requests'), 0);
    });
  }
});
