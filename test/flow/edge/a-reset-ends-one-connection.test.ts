// A client that resets its connection at any moment, after sending anything, ends only that connection: each listener goes on, and no
// exchange is left behind.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { createAuthority } from '../../support/certificates.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';
import { until } from '../reload/files.ts';
import { filesOf, sampleOf } from '../tls/secure-gateway.ts';

const HOST = 'Host: api.test\r\n';
const CONNECT = `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`;
const SLOW_MS = 60;
/** More than all buffers between a gateway and its client take. */
const LARGE_BYTES = 6_000_000;
const authority = createAuthority();
/** Errors that would have ended the process of a gateway. */
const uncaught: unknown[] = [];
const note = (error: unknown) => uncaught.push(error);

const start = closesAfterAll();
process.on('uncaughtExceptionMonitor', note);
const upstream = await start(
  startUpstream((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.headers['x-organization-id'] === 'org_large') {
      response.end(`"${'x'.repeat(LARGE_BYTES)}"`);
    } else setTimeout(() => response.end('{}'), SLOW_MS);
  }),
);
const things = thingsAt(upstream.url);
const gateway = await start(startGateway(things));
const authorization = `Authorization: ${(await gateway.authorize()).authorization}\r\n`;
/** Of the organization with large answers. */
const large = `Authorization: ${(await gateway.authorize({ organization: 'org_large' })).authorization}\r\n`;
const { files, certificates } = filesOf({ api: authority.issue({ names: ['api.test'] }) });
const tls = { certificates, plain: { port: 0, mode: 'refuse' } };
const secure = await start(startGateway({ ...things, gateway: { publicUrl: 'https://api.test', tls }, files }));
after(() => process.off('uncaughtExceptionMonitor', note));

const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'a'.repeat(22)}==\r\n`;
const requests: Readonly<Record<string, () => string>> = {
  CONNECT: () => CONNECT,
  'CONNECT with bytes behind it': () => `${CONNECT}${'\0bytes'.repeat(1000)}`,
  'CONNECT behind a request': () => `GET /v1/things HTTP/1.1\r\n${HOST}${authorization}\r\n${CONNECT}`,
  'CONNECT behind two requests': () =>
    `${`GET /v1/things HTTP/1.1\r\n${HOST}${authorization}\r\n`.repeat(2)}${CONNECT}`,
  'CONNECT behind a large answer': () => `GET /v1/things HTTP/1.1\r\n${HOST}${large}\r\n${CONNECT}`,
  'a request that is answered at once': () => `GET /nothing HTTP/1.1\r\n${HOST}\r\n`,
  'a request that is slow': () => `GET /v1/things HTTP/1.1\r\n${HOST}${authorization}\r\n`,
  'a large answer': () => `GET /v1/things HTTP/1.1\r\n${HOST}${large}\r\n`,
  'half a body': () => `POST /v1/things HTTP/1.1\r\n${HOST}${authorization}Content-Length: 100\r\n\r\n{`,
  'a body that is refused': () =>
    `POST /nothing HTTP/1.1\r\n${HOST}Content-Length: 900000\r\n\r\n${'x'.repeat(50_000)}`,
  'an expectation': () =>
    `POST /v1/things HTTP/1.1\r\n${HOST}${authorization}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  'an upgrade': () => `GET /v1/things HTTP/1.1\r\n${HOST}${upgrade}\r\n`,
  'an upgrade to something else': () => `GET /v1/things HTTP/1.1\r\n${HOST}Connection: upgrade\r\nUpgrade: h2c\r\n\r\n`,
  'bytes that are no HTTP': () => 'this is no HTTP\r\n\r\n',
  'half a head': () => `GET /v1/things HTTP/1.1\r\nHos`,
  'a preface of HTTP/2': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  nothing: () => '',
};

const resets: Readonly<Record<string, (socket: Socket) => Promise<unknown>>> = {
  'at once': () => new Promise(setImmediate),
  'after 5 ms': () => sleep(5),
  'after 40 ms': () => sleep(40),
  'while it is answered': (socket) =>
    Promise.race([new Promise((resolve) => socket.once('readable', resolve)), sleep(2 * SLOW_MS)]),
};

async function sendAndReset(port: number, bytes: string, reset: (socket: Socket) => Promise<unknown>): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await once(socket, 'connect');
  if (bytes !== '') socket.write(bytes);
  await reset(socket);
  // A connection that the gateway has closed already cannot be reset.
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
  await closed;
}

const active = (one: TestGateway) => sampleOf(one, 'http_server_active_requests');

for (const [what, bytesOf] of Object.entries(requests)) {
  describe(`${what}, then a reset`, () => {
    for (const [when, reset] of Object.entries(resets)) {
      it(when, async () => {
        const ports = [gateway.port, gateway.app.adminPort, secure.app.plainPort as number, secure.port];
        await Promise.all(ports.map((port) => sendAndReset(port, bytesOf(), reset)));
        assert.equal((await ask(gateway.port, requestOf('GET /v1/nothing'))).status, 404);
        assert.equal((await ask(secure.app.plainPort as number, requestOf('POST /v1/nothing'))).status, 403);
        await until(async () => (await active(gateway)) === 0 && (await active(secure)) === 0);
        assert.deepEqual(uncaught.splice(0), []);
      });
    }
  });
}

it('CONNECT over TLS, then a reset below it', async () => {
  for (const pauseMs of [0, 5, 40]) {
    const raw = connect(secure.port, '127.0.0.1').on('error', () => undefined);
    const socket = connectSecurely({ socket: raw, servername: 'api.test', ca: authority.certificate });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    socket.write(CONNECT);
    await sleep(pauseMs);
    raw.resetAndDestroy();
    await once(raw, 'close');
  }
  assert.equal((await fetch(`${secure.adminUrl}/livez`)).status, 200);
  assert.deepEqual(uncaught.splice(0), []);
});

it('answers behind which CONNECT stands come whole', async () => {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.write(`GET /v1/things HTTP/1.1\r\n${HOST}${large}\r\n`.repeat(2) + CONNECT);
  const chunks: Buffer[] = await socket.toArray();
  const text = Buffer.concat(chunks).toString('latin1');
  const bodies = text.split('"x').slice(1);
  assert.deepEqual(
    bodies.map((body) => body.indexOf('"')),
    [LARGE_BYTES - 1, LARGE_BYTES - 1],
  );
});
