// Answers pass through as they come: no chunk waits for the next, and a slow reader slows the upstream down instead of filling memory.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { openConnection, requestOf, until } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { createWorld } from '../../support/world.ts';

const start = closesAfterEach();
const MEGABYTE = 1_048_576;
const PIECES = 32;
const piece = Buffer.alloc(MEGABYTE, 'abcdefg');

/** An upstream that sends 64 MB as fast as it is read, and reports its progress. */
async function startLargeUpstream() {
  let sent = 0;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': PIECES * MEGABYTE });
    Readable.from(
      (function* () {
        for (; sent < PIECES; sent++) yield piece;
      })(),
    ).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => sent,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

describe('an answer of 32 MB', () => {
  it('arrives whole at a slow reader, and takes little memory meanwhile', async () => {
    const upstream = await start(startLargeUpstream());
    const gateway = await start(startGateway(thingsAt(upstream.url)));
    const headers = await gateway.authorize();
    const before = process.memoryUsage().arrayBuffers;
    const answer = await fetch(`${gateway.url}/v1/files`, { headers });
    assert.equal(answer.headers.get('content-length'), String(PIECES * MEGABYTE));
    // The client does not read: the upstream sends until the buffers of two connections are full.
    for (let last = -1; upstream.sent() !== last; ) {
      last = upstream.sent();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(upstream.sent() < PIECES / 2, `${upstream.sent()} MB were taken from the upstream`);
    assert.ok(process.memoryUsage().arrayBuffers - before < 16 * MEGABYTE);
    const received = createHash('sha256');
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) received.update(chunk);
    const expected = createHash('sha256');
    for (let i = 0; i < PIECES; i++) expected.update(piece);
    assert.equal(received.digest('hex'), expected.digest('hex'));
  });
});

describe('an answer in pieces', () => {
  it('is passed on piece by piece', async () => {
    const world = await start(createWorld());
    let next = () => {};
    world.upstream.plays((socket) => {
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{ \r\n',
      );
      next = () => socket.write('2\r\n }\r\n0\r\n\r\n');
    });
    const connection = await start(openConnection(world.gateway.port));
    connection.send(requestOf('GET /v1/things', { Authorization: world.authorization }));
    while (!connection.rest().includes('{ ')) await new Promise((resolve) => connection.socket.once('data', resolve));
    assert.doesNotMatch(connection.rest().toString(), / \}/);
    next();
    assert.equal((await connection.answer())?.body.toString(), '{  }');
  });

  it('that is all there at once leaves as one, with its length', async () => {
    const world = await start(createWorld());
    world.upstream.plays((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      ),
    );
    const answer = await world.call('GET /v1/things');
    assert.equal(answer.headers['content-length'], '2');
    assert.equal(answer.headers['transfer-encoding'], undefined);
    assert.equal(answer.body.toString(), '{}');
  });

  it('goes to a client of HTTP/1.0 without chunks', async () => {
    const world = await start(createWorld());
    world.upstream.plays((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n');
      setTimeout(() => socket.write('1\r\n}\r\n0\r\n\r\n'), 20);
    });
    const connection = await start(openConnection(world.gateway.port));
    connection.send(`GET /v1/things HTTP/1.0\r\nAuthorization: ${world.authorization}\r\n\r\n`);
    const answer = await connection.answer();
    assert.equal(answer?.headers['transfer-encoding'], undefined);
    assert.equal(answer?.body.toString(), '{}');
    assert.equal(await connection.closed, 'end');
  });
});

describe('a client that leaves', () => {
  for (const begun of [false, true]) {
    it(`ends the upstream’s work ${begun ? 'in the middle of' : 'before'} the answer`, async () => {
      const world = await start(createWorld());
      const ended = new Promise<void>((resolve) => {
        world.upstream.plays((socket) => {
          socket.on('close', () => resolve());
          if (begun) socket.write(httpAnswer(200, '{', { 'Content-Length': '2' }));
        });
      });
      const connection = await start(openConnection(world.gateway.port));
      connection.send(requestOf('GET /v1/things', { Authorization: world.authorization }));
      if (begun) await new Promise((resolve) => connection.socket.once('data', resolve));
      else await until(() => world.upstream.received.length > 0);
      connection.destroy();
      await ended;
      const line = await until(() => world.gateway.logLines().at(-1));
      assert.deepEqual([line.status, line.code, line.level], [499, undefined, 30]);
    });
  }
});

describe('a client that leaves while its body is read', () => {
  for (const how of ['destroy', 'resetAndDestroy'] as const) {
    it(`does not affect the gateway: ${how}`, async () => {
      const world = await start(createWorld());
      const connection = await start(openConnection(world.gateway.port));
      const headers = {
        Authorization: world.authorization,
        'Content-Type': 'application/json',
        'Content-Length': '100',
      };
      connection.send(requestOf('POST /v1/things', { ...headers, Expect: '100-continue' }));
      assert.equal((await connection.answer())?.status, 100);
      connection.send('{"name"');
      connection.socket[how]();
      const line = await until(() => world.gateway.logLines().at(-1));
      assert.ok(line.status === 499 || line.code === 'malformed_http', JSON.stringify(line));
      assert.equal(line.level, 30);
      assert.deepEqual(world.upstream.received, []);
    });
  }
});
