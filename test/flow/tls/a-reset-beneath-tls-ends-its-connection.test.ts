// A client of TLS that resets the connection beneath it ends that connection soon, also where the reset comes before a write of Node's own,
// as of session tickets: the error of such a write is lost, and the reset then looks like an end.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectSecurely, type TLSSocket } from 'node:tls';
import { createAuthority } from '../../support/certificates.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { requestOf } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { startRawUpstream } from '../../support/upstream.ts';
import { until } from '../reload/files.ts';
import { filesOf, sampleOf } from './secure-gateway.ts';

const CONNECTIONS = 4;
const PER_ADDRESS = 10;
const SLOW_MS = 60;
const TRICKLE_MS = 20;
/** Far less than `writeIdleMs`, which is a minute by default. */
const SOON_MS = 5000;
const authority = createAuthority();

const answers: Readonly<Record<string, (socket: Socket) => void>> = {
  'GET /v1/things': (socket) => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    setTimeout(() => socket.write(answer), SLOW_MS);
  },
  'GET /v1/files': (socket) => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 8000000\r\n\r\n';
    socket.write(head + 'x'.repeat(20_000));
    const timer = setInterval(() => socket.write('x'), TRICKLE_MS);
    socket.on('close', () => clearInterval(timer));
  },
};

const start = closesAfterAll();
const upstream = await start(
  startRawUpstream((socket, text) => {
    answers[text.slice(0, text.indexOf(' HTTP/'))]?.(socket);
  }),
);
const { files, certificates } = filesOf({ api: authority.issue({ names: ['api.test'] }) });
const gateway = await start(
  startGateway({
    ...thingsAt(upstream.url),
    gateway: { publicUrl: 'https://api.test', tls: { certificates }, connections: { perAddress: PER_ADDRESS } },
    files,
  }),
);
const headers = { Authorization: (await gateway.authorize()).authorization };

/** A connection that has finished its handshake on the side of the client: the gateway has yet to read the last part of it. */
async function connectTo(): Promise<{ readonly raw: Socket; readonly socket: TLSSocket }> {
  const raw = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
  const socket = connectSecurely({ socket: raw, servername: 'api.test', ca: authority.certificate });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return { raw, socket };
}

const requests: Readonly<Record<string, () => Buffer>> = {
  'a request that the gateway answers': () => requestOf('GET /v1/nothing'),
  'requests that the gateway answers': () => Buffer.concat(Array(200).fill(requestOf('GET /v1/nothing'))),
  'a request that closes its connection': () => requestOf('GET /v1/nothing', { Connection: 'close' }),
  'an upload that is refused': () => requestOf('POST /v1/files', {}, 'x'.repeat(300_000)),
  'a request with a slow answer': () => requestOf('GET /v1/things', headers),
  'a request with an answer that trickles': () => requestOf('GET /v1/files', headers),
  'half a request': () => requestOf('GET /v1/files', headers).subarray(0, 20),
  'no request': () => Buffer.alloc(0),
};

const resets: Readonly<Record<string, (socket: TLSSocket) => Promise<unknown>>> = {
  'at once': async () => undefined,
  'after 5 ms': () => sleep(5),
  'while it is answered': (socket) => Promise.race([once(socket, 'readable'), sleep(2 * SLOW_MS)]),
};

async function sendAndReset(bytes: Buffer, reset: (socket: TLSSocket) => Promise<unknown>): Promise<void> {
  const { raw, socket } = await connectTo();
  if (bytes.length > 0) socket.write(bytes);
  await reset(socket);
  if (raw.destroyed) return;
  const closed = once(raw, 'close');
  // A connection that the gateway has ended already cannot be reset.
  if (raw.writableEnded || socket.writableEnded) raw.destroy();
  else raw.resetAndDestroy();
  await closed;
}

/** Whether as many connections as one address may have are served: none of them is counted that is gone. */
async function servesAll(): Promise<boolean> {
  const all = await Promise.allSettled(Array.from({ length: PER_ADDRESS }, connectTo));
  const served = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  await Promise.all(served.map(({ raw, socket }) => once(raw, 'close', void socket.resume().end())));
  return served.length === PER_ADDRESS;
}

async function assertNothingLeft(): Promise<void> {
  const startedAt = performance.now();
  await until(async () => (await sampleOf(gateway, 'http_server_active_requests')) === 0);
  await until(servesAll);
  const waitedMs = performance.now() - startedAt;
  assert.ok(waitedMs < SOON_MS, `after ${waitedMs} ms`);
}

for (const [what, bytesOf] of Object.entries(requests)) {
  describe(`${what}, then a reset beneath TLS`, () => {
    for (const [when, reset] of Object.entries(resets)) {
      it(when, async () => {
        await Promise.all(Array.from({ length: CONNECTIONS }, () => sendAndReset(bytesOf(), reset)));
        await assertNothingLeft();
      });
    }
  });
}
