// Where the contract streams a body, it passes chunk by chunk; after any failure both sides get a correct end.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closesAfterEach } from '../../support/closing.ts';
import { type Connection, openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';

const start = closesAfterEach();

/** Each request is handed over at its head. */
async function startStreamUpstream(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.on('error', () => undefined);
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await start({
    async close() {
      server.closeAllConnections();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startUpload(url: string, framing: Record<string, string>): Promise<[Connection, TestGateway]> {
  const gateway = await start(startGateway(thingsAt(url, { timeoutMs: 5000 })));
  const { authorization } = await gateway.authorize();
  const connection = await start(openConnection(gateway.port));
  const headers = { Authorization: authorization, 'Content-Type': 'application/octet-stream', ...framing };
  connection.send(requestOf('POST /v1/files', headers));
  return [connection, gateway];
}

const chunked = { 'Transfer-Encoding': 'chunked' };
const done = (response: ServerResponse) => response.writeHead(201, { 'content-type': 'application/json' }).end('{}');

describe('a streamed upload', () => {
  it('reaches the upstream chunk by chunk', async () => {
    let seen = '';
    const url = await startStreamUpstream((request, response) => {
      request.on('data', (chunk) => {
        seen += chunk;
      });
      request.on('end', () => done(response));
    });
    const [connection] = await startUpload(url, chunked);
    for (const text of ['one', 'two']) {
      connection.send(`3\r\n${text}\r\n`);
      await until(() => seen.endsWith(text));
    }
    connection.send('0\r\n\r\n');
    assert.equal((await connection.answer())?.status, 201);
    assert.equal(seen, 'onetwo');
  });

  it('keeps its length if it has one, and bytes of any kind', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    let length: string | undefined;
    const chunks: Buffer[] = [];
    const url = await startStreamUpstream((request, response) => {
      length = request.headers['content-length'];
      request.on('data', (chunk) => chunks.push(chunk)).on('end', () => done(response));
    });
    const [connection] = await startUpload(url, { 'Content-Length': '256' });
    connection.send(bytes);
    assert.equal((await connection.answer())?.status, 201);
    assert.equal(length, '256');
    assert.deepEqual(Buffer.concat(chunks), bytes);
  });

  it('is requested only when its upstream is about to get it', async () => {
    const url = await startStreamUpstream((request, response) => {
      request.resume().on('end', () => done(response));
    });
    const [connection] = await startUpload(url, { 'Content-Length': '2', Expect: '100-continue' });
    assert.equal((await connection.answer())?.status, 100);
    connection.send('ab');
    assert.equal((await connection.answer())?.status, 201);
  });

  it('waits for an upstream that does not read, instead of filling memory', async () => {
    const url = await startStreamUpstream(() => {});
    const before = process.memoryUsage().arrayBuffers;
    const [connection] = await startUpload(url, chunked);
    const piece = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1_048_576), Buffer.from('\r\n')]);
    let pieces = 0;
    const send = () => {
      while (pieces < 64 && !connection.socket.destroyed) {
        pieces++;
        if (!connection.socket.write(piece)) return;
      }
    };
    connection.socket.on('drain', send);
    send();
    for (let last = -1; pieces !== last; ) {
      last = pieces;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(pieces < 32, `${pieces} MB were taken from the client`);
    assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1_048_576);
  });
});

describe('a streamed upload that fails', () => {
  it('is refused in words when the upstream cannot be reached, while the client still sends', async () => {
    const [connection] = await startUpload(`http://127.0.0.1:${await unusedPort()}`, chunked);
    connection.send('3\r\none\r\n');
    const answer = await connection.answer();
    assert.ok(answer);
    assertRefusal(answer, 'upstream_unreachable');
    assert.equal(answer.headers.connection, 'close');
  });

  it('is answered when the upstream answers before it is complete', async () => {
    const url = await startStreamUpstream((_request, response) => {
      response.writeHead(422, { 'content-type': 'application/json' }).end('{"message":"Not this one."}');
    });
    const [connection] = await startUpload(url, chunked);
    connection.send('3\r\none\r\n');
    const answer = await connection.answer();
    assert.ok(answer);
    assertRefusal(answer, 'upstream_rejected', 422);
    assert.equal(answer.error.message, 'Not this one.');
  });

  it('among many broken off at any moment ends nothing but itself', async () => {
    const url = await startStreamUpstream((request, response) => {
      request.resume();
      setTimeout(() => done(response), 30);
    });
    const gateway = await start(startGateway(thingsAt(url, { timeoutMs: 200 })));
    const { authorization } = await gateway.authorize();
    const headers = { Authorization: authorization, 'Content-Type': 'application/octet-stream', ...chunked };
    const breakOffAfter = async (ms: number) => {
      const connection = await start(openConnection(gateway.port));
      connection.send(requestOf('POST /v1/files', headers), '3\r\none\r\n');
      await sleep(ms);
      connection.destroy();
    };
    // An uncaught error would fail this test.
    await Promise.all(Array.from({ length: 60 }, (_, index) => breakOffAfter(index * 5)));
    await until(() => gateway.logLines().filter(({ operation }) => operation === 'uploadFile').length === 60);
  });

  it('gets one answer, also when the upstream comes with another after its time was over', async () => {
    let held: ServerResponse | undefined;
    const url = await startStreamUpstream((request, response) => {
      request.resume();
      held = response;
    });
    const gateway = await start(startGateway({ ...thingsAt(url), gateway: { timeouts: { requestMs: 1000 } } }));
    const { authorization } = await gateway.authorize();
    const connection = await start(openConnection(gateway.port));
    const headers = { Authorization: authorization, 'Content-Type': 'application/octet-stream', ...chunked };
    connection.send(requestOf('POST /v1/files', headers), '3\r\none\r\n');
    const late = await until(() => held);
    const answer = await connection.answer();
    assert.ok(answer);
    assertRefusal(answer, 'request_timeout');
    const cut = once(late, 'close');
    late.writeHead(201, { 'content-type': 'application/json' }).write('{"late":');
    await cut;
    connection.destroy();
    const line = await until(() => gateway.logLines().find(({ operation }) => operation === 'uploadFile'));
    assert.deepEqual([line.status, line.bytes_out], [408, answer.body.length]);
  });

  it('is answered with success too, and the connection ends since the rest of the body has no reader', async () => {
    const url = await startStreamUpstream((_request, response) => done(response));
    const [connection] = await startUpload(url, chunked);
    connection.send('3\r\none\r\n');
    const answer = await connection.answer();
    assert.equal(answer?.status, 201);
    assert.equal(answer?.headers.connection, 'close');
    await connection.closed;
  });

  const breaks = {
    'is cut off at the client': (connection: Connection) => connection.destroy(),
    'ends before its last chunk': (connection: Connection) => connection.socket.end(),
    'breaks its framing': (connection: Connection) => connection.send('zz\r\n'),
  };
  for (const [name, breakOff] of Object.entries(breaks)) {
    it(`${name} never looks complete to the upstream`, async () => {
      let seen = '';
      let complete: boolean | undefined;
      const url = await startStreamUpstream((request) => {
        request.on('data', (chunk) => {
          seen += chunk;
        });
        request.on('close', () => {
          complete = request.complete;
        });
      });
      const [connection, gateway] = await startUpload(url, chunked);
      connection.send('3\r\none\r\n');
      await until(() => seen === 'one');
      breakOff(connection);
      assert.equal(
        await until(() => (complete === undefined ? undefined : { complete })).then((is) => is.complete),
        false,
      );
      connection.destroy();
      const line = await until(() => gateway.logLines().find(({ operation }) => operation === 'uploadFile'));
      assert.equal(line.level, 30, 'the client is to blame');
      assert.ok(['499', '400'].includes(String(line.status)), String(line.status));
    });
  }

  it('is cut off at the deadline when the upstream does not answer', async () => {
    const url = await startStreamUpstream((request) => request.resume());
    const gateway = await start(startGateway(thingsAt(url, { timeoutMs: 100 })));
    const { authorization } = await gateway.authorize();
    const connection = await start(openConnection(gateway.port));
    const headers = { Authorization: authorization, 'Content-Type': 'application/octet-stream', ...chunked };
    connection.send(requestOf('POST /v1/files', headers), '3\r\none\r\n');
    const answer = await connection.answer();
    assert.ok(answer);
    assertRefusal(answer, 'upstream_timeout');
  });
});
