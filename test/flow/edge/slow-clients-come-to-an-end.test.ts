// Clients that trickle, and clients that do not read: each comes to its end in its time, and takes bounded memory until then.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closesAfterEach } from '../../support/closing.ts';
import { openConnection, requestOf, until } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { standStill } from '../../support/stand-still.ts';
import { thingsAt } from '../../support/things.ts';
import { type Answer, startUpstream } from '../../support/upstream.ts';
import { startSecureGateway } from '../tls/secure-gateway.ts';

const start = closesAfterEach();
const PIECE = Buffer.alloc(65_536, 0x20);

/** Sends an endless answer while the client reads; counts the bytes taken. */
function createEndless() {
  const told = { sent: 0, ended: false };
  const answer: Answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.on('close', () => {
      told.ended = true;
    });
    const goOn = () => {
      while (!response.destroyed && response.write(PIECE)) told.sent += PIECE.length;
    };
    response.on('drain', goOn);
    goOn();
  };
  return { told, answer };
}

async function startWorld(timeouts: object, answer?: Answer) {
  const upstream = await start(startUpstream(answer));
  const gateway = await start(startGateway({ ...thingsAt(upstream.url), gateway: { timeouts } }));
  return { gateway, upstream, ...(await gateway.authorize()) };
}

describe('a client whose bytes came in time, while the gateway stood still', () => {
  const byNode = process.env.TEST_FAST_PATH === 'off' && 'Node’s HTTP server looks at heads before it reads sockets';

  /** Sends the second part right before the process stands still for longer than the client has time. */
  async function statusFor(partsOf: (authorization: string) => readonly [string, string]): Promise<number | undefined> {
    const { gateway, authorization } = await startWorld({ headersMs: 1000, requestMs: 1000 });
    const client = await start(openConnection(gateway.port));
    const [first, second] = partsOf(authorization);
    client.send(first);
    // The gateway reads these bytes meanwhile.
    await sleep(50);
    // Timers are next behind this, and sockets after them.
    await new Promise((resolve) => setImmediate(resolve));
    client.send(second);
    standStill(1500);
    return (await client.answer())?.status;
  }

  it('is answered, if these end its head', { skip: byNode }, async () => {
    const head = 'GET /v1/things HTTP/1.1\r\nHost: api.test\r\n';
    assert.equal(await statusFor((authorization) => [head, `Authorization: ${authorization}\r\n\r\n`]), 200);
  });

  it('is answered, if these end its body', async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': '12' };
    const head = (Authorization: string) => requestOf('POST /v1/things', { ...headers, Authorization }).toString();
    assert.equal(await statusFor((authorization) => [`${head(authorization)}{"name":`, '"a"}']), 200);
  });
});

describe('a client', () => {
  it('that trickles its head gets the reason, at any rate of bytes', async () => {
    const { gateway } = await startWorld({ headersMs: 100 });
    const connection = await openConnection(gateway.port);
    connection.send('GET /v1/things HTTP/1.1\r\nX-Slow: ');
    const trickle = setInterval(() => connection.send('x'), 20);
    const answer = await connection.answer();
    clearInterval(trickle);
    assert.equal(answer?.error.code, 'request_timeout');
    assert.equal(answer?.headers.connection, 'close');
    connection.destroy();
  });

  it('that trickles its body gets the reason, at any rate of bytes', async () => {
    const { gateway, upstream, authorization } = await startWorld({ requestMs: 100 });
    const connection = await openConnection(gateway.port);
    const headers = { Authorization: authorization, 'Content-Type': 'application/json', 'Content-Length': '5000' };
    connection.send(requestOf('POST /v1/things', headers), '{');
    const trickle = setInterval(() => connection.send(' '), 20);
    const answer = await connection.answer();
    clearInterval(trickle);
    assert.equal(answer?.error.code, 'request_timeout');
    assert.equal(answer?.headers.connection, 'close');
    connection.destroy();
    assert.equal(upstream.requests.length, 0);
  });

  it('that reads nothing of its answer is cut off, and so is the upstream', async () => {
    const { told, answer } = createEndless();
    const { gateway, authorization } = await startWorld({ writeIdleMs: 400 }, answer);
    const connection = await openConnection(gateway.port);
    connection.socket.pause();
    connection.send(requestOf('GET /v1/things', { Authorization: authorization }));
    await until(() => told.ended);
    // The bytes in the buffers of two pairs of sockets, and nothing beyond.
    assert.ok(told.sent < 30_000_000, `${told.sent} bytes`);
    connection.socket.resume();
    assert.equal(await connection.closed, 'reset');
  });

  it('that reads slowly but reads is not', async () => {
    const { told, answer } = createEndless();
    const { gateway, authorization } = await startWorld({ writeIdleMs: 400 }, answer);
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(requestOf('GET /v1/things', { Authorization: authorization }));
    // The kernel takes more from the gateway only when a good part of its buffers is free.
    const PART = 4_000_000;
    for (let count = 0; count < 8; count += 1) {
      await sleep(80);
      for (let taken = 0; taken < PART; ) {
        if (socket.readableLength === 0) await once(socket, 'readable');
        taken += (socket.read() as Buffer | null)?.length ?? 0;
      }
    }
    assert.equal(told.ended, false);
    socket.destroy();
    await until(() => told.ended);
  });

  it('that reads nothing is cut off over TLS as well', async () => {
    const { told, answer } = createEndless();
    const secure = await start(startSecureGateway({ gateway: { timeouts: { writeIdleMs: 150 } }, answer }));
    const socket = await secure.connect();
    socket.pause();
    socket.write(requestOf('GET /v1/things', { Authorization: secure.authorization }));
    await until(() => told.ended);
    socket.destroy();
  });
});
