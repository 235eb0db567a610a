// Each library that reads from a socket, fed by a peer with bytes on which its event may throw. Node contains no throw in an event: it is
// an uncaught exception, which ends the process and fails the test that runs. What each library does:
//
// - ioredis rethrows outside every promise: `redis/contain.ts` ends the connection (test/flow/redis/a-wrong-reply-ends-no-process);
// - the gateway's own HTTP client contains its callbacks: 502, and the connection ends;
// - http-proxy-middleware contains nothing: `tunnel/http-proxy.ts` contains its listeners, 502, in an upgrade as well;
// - the parser of node:http in the server: `clientError`, 400 (test/attack/random-bytes has more);
// - TLS of Node: `tlsClientError`, the connection ends;
// - fetch: its promise rejects;
// - ws in the sandbox: an error event of that connection.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Agent } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { fetchKeySet } from '../../gateway/auth/tokens/issuer-keys.ts';
import { createWebSockets } from '../../sandbox/mail/web-socket.ts';
import { startSecureGateway } from '../flow/tls/secure-gateway.ts';
import { tunnelAt } from '../flow/tunnel/mail-tunnel.ts';
import { HANDSHAKE } from '../flow/tunnel/open-ends.ts';
import { ask, openConnection, requestOf } from '../support/connection.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startRawUpstream } from '../support/upstream.ts';

const HEADS = [
  'HTTP/1.1 200 \x01\x02\x03',
  'HTTP/1.1 200 caf\xe9 \xff',
  'HTTP/1.1 099 Low',
  'HTTP/1.1 000 None',
  'HTTP/1.1 999 High',
  'HTTP/1.1 1000 Long',
  'HTTP/1.1 -20 Less',
  'HTTP/1.1 101 Switching Protocols',
  'HTTP/1.1 304 Not Modified',
  'HTTP/2.0 200 OK',
  'RTSP/1.0 200 OK',
];
const FIELDS = [
  'X-A: \x01\x7f',
  'X-A: caf\xe9\r\nX-B: \xff\xfe',
  ': no name',
  'X A: space',
  '__proto__: a\r\nconstructor: b\r\ntoString: c',
  'Set-Cookie: \r\nSet-Cookie: a=\x00b',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: gzip',
  'Connection: upgrade\r\nUpgrade: h2c',
  'Connection: connection, close, te, \x80',
  'Trailer: X-T\r\nTransfer-Encoding: chunked',
  `X-Long: ${'y'.repeat(70_000)}`,
  'Location: http://[::1\r\nContent-Type: \xff/\xff',
];
const BODIES = ['', '{}', 'zz\r\n', '2\r\n{}\r\n0\r\nX-T: \x01\r\n\r\n', '\x00'];

/** Each head, then each kind of fields, with a body that changes from one to the next. */
const ANSWERS = [
  ...HEADS.map((head) => [head, '']),
  ...FIELDS.map((field) => ['HTTP/1.1 200 OK', `${field}\r\n`]),
  ...FIELDS.map((field) => ['HTTP/1.1 101 Switching Protocols', `${field}\r\n`]),
].map(([head, fields], at) => `${head}\r\n${fields}\r\n${BODIES[at % BODIES.length]}`);

/** Beginnings of a handshake, in hexadecimal: lengths that do not fit, an alert, an old version, a hello of the server. */
const HELLOS = [
  '16030100',
  '1603010200010001fc0303',
  '160301ffff',
  '15030100020228',
  '80',
  'ff'.repeat(300),
  '16030300050e00000000',
];

describe('a peer that sends what a library may not be able to read', () => {
  let upstream: Awaited<ReturnType<typeof startRawUpstream>>;
  let gateway: TestGateway;
  let authorization: string;
  let answer = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
  const good = answer;
  before(async () => {
    upstream = await startRawUpstream((socket) => socket.end(answer, 'latin1'));
    const entry = { breaker: 'off', ejection: 'off', timeoutMs: 1000 };
    gateway = await startGateway(tunnelAt(upstream.url, { entry }));
    ({ authorization } = await gateway.authorize());
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function assertServes(): Promise<void> {
    answer = good;
    const got = await ask(gateway.port, requestOf('GET /v1/things', { Authorization: authorization }));
    assert.equal(got.status, 200);
    assert.match(await (await fetch(`${gateway.adminUrl}/metrics`)).text(), /^gateway_faults_total 0$/m);
  }

  const eachAnswer = async (send: () => Promise<unknown>) => {
    for (const one of ANSWERS) {
      answer = one;
      await send();
    }
  };

  function exchange(request: string | Buffer, port = gateway.port): Promise<void> {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(request);
    // A connection that could be kept, or that waits for the rest of a record, ends with the first bytes or with this end.
    socket.once('data', () => socket.destroy()).resume();
    if (port !== gateway.port) socket.end();
    return new Promise((resolve) => void socket.once('close', () => resolve()));
  }

  it('an upstream of an operation: the own client', async () => {
    await eachAnswer(() =>
      exchange(requestOf('GET /v1/things', { Authorization: authorization, Connection: 'close' })),
    );
    await assertServes();
  });

  it('an upstream of a tunnel: http-proxy-middleware on node:http', async () => {
    await eachAnswer(() => exchange(requestOf('GET /jmap/session', { Connection: 'close' })));
    await assertServes();
  });

  it('an upstream of a tunnel that is asked for a WebSocket', async () => {
    const fields = ['GET /jmap/ws HTTP/1.1', 'Host: localhost', ...HANDSHAKE].join('\r\n');
    await eachAnswer(() => exchange(`${fields}\r\n\r\n`));
    await assertServes();
  });

  it('an issuer of tokens: fetch', async () => {
    await eachAnswer(() => fetchKeySet(upstream.url, 1000, new AbortController().signal).catch(() => undefined));
  });

  it('a client of the listener: the parsers of the fast path and of node:http', async () => {
    for (const one of ANSWERS) await exchange(`${one}\r\n\r\n`.replace('HTTP/1.1 200', 'GET /v1/things HTTP/1.1'));
    for (const field of FIELDS.filter(Boolean)) {
      await exchange(`GET /docs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${field}\r\n\r\n`);
    }
    await assertServes();
  });

  it('a client of the listener for HTTPS: TLS of Node', async () => {
    const secure = await startSecureGateway();
    const garbage = Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(40));
    for (const hello of HELLOS)
      await exchange(Buffer.concat([Buffer.from(hello, 'hex'), garbage]), secure.gateway.port);
    const agent = new Agent({ ca: secure.authority.certificate, servername: 'api.test' });
    assert.equal(await secure.get(agent), 200);
    agent.destroy();
    await secure.close();
  });

  it('a client of the WebSockets of the sandbox: ws', async () => {
    const sockets = createWebSockets({ listen: () => () => undefined } as never, (() => ({})) as never, 1000);
    const server = createServer().listen(0, '127.0.0.1');
    server.on('upgrade', (request, socket, head) => sockets.open({ accountId: 'a' } as never, request, socket, head));
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const frames = [
      '\xff\xff',
      '\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff',
      '\x81\x05hello',
      '\x88\x81\0\0\0\0\x01',
      '\xc1\x80\0\0\0\0',
      '\x81\x82\0\0\0\0\xff\xfe',
      '\x89\xfe\x7f\xff\0\0\0\0',
      '\x81\x84\0\0\0\0null',
      '\x81\x82\0\0\0\0[]',
    ];
    for (const bytes of frames) {
      const connection = await openConnection(port);
      connection.send(['GET / HTTP/1.1', 'Host: a', ...HANDSHAKE].join('\r\n').concat('\r\n\r\n'));
      connection.send(Buffer.from(bytes, 'latin1'));
      connection.socket.end();
      await connection.closed;
    }
    sockets.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
