// Limits of one client address in a tunnel: requests, connections held open, failed logins. Other addresses are not affected.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startBehind, startTunnel } from './mail-tunnel.ts';
import { HANDSHAKE, headOf, nextWebSocket, openWebSocket } from './open-ends.ts';

const start = closesAfterEach();
const basic = (user: string) => `Basic ${Buffer.from(`${user}:word`).toString('base64')}`;

async function setUp(limits: object) {
  const behind = await start(startBehind());
  const gateway = await start(
    startTunnel(behind.url, { tunnel: { limits }, gateway: { trustedProxies: ['127.0.0.1'] } }),
  );
  const call = (address: string, headers: Record<string, string> = {}) =>
    ask(gateway.port, requestOf('GET /jmap/session', { 'X-Forwarded-For': address, ...headers }));
  return { behind, gateway, call };
}

describe('a tunnel', () => {
  it('gives each address its requests, and the true wait after them', async () => {
    const { call } = await setUp({ requests: 3, windowSeconds: 30 });
    for (let i = 0; i < 3; i++) assert.equal((await call('192.0.2.1')).status, 200);
    const refused = await call('192.0.2.1');
    assertRefusal(refused, 'rate_limited');
    assert.ok([29, 30].includes(Number(refused.headers['retry-after'])), refused.headers['retry-after']);
    assert.equal((await call('192.0.2.2')).status, 200);
  });

  it('counts WebSockets and streams among the connections of an address until they end', async () => {
    const { behind, gateway, call } = await setUp({ connections: 2 });
    behind.plays((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
    );
    const granted = nextWebSocket(behind);
    const lines = ['X-Forwarded-For: 192.0.2.1', ...HANDSHAKE];
    const socket = await start(openWebSocket(gateway.port, '/jmap/ws', lines));
    const upstream = await granted;
    await headOf(socket);
    const stream = await start(openConnection(gateway.port));
    stream.send(requestOf('GET /jmap/eventsource/', { 'X-Forwarded-For': '192.0.2.1' }));
    await until(() => stream.rest().includes('\r\n\r\n'));
    assertRefusal(await call('192.0.2.1'), 'rate_limited');
    const third = await start(openWebSocket(gateway.port, '/jmap/ws', lines));
    assert.match(await headOf(third), /^HTTP\/1\.1 429 /);
    behind.plays((_request, response) => response.end('{}'));
    assert.equal((await call('192.0.2.2')).status, 200);
    socket.destroy();
    await upstream.ended;
    upstream.socket.end();
    await until(() => gateway.logLines().some(({ status }) => status === 101));
    assert.equal((await call('192.0.2.1')).status, 200);
  });

  it('limits the connections of all addresses together', async () => {
    const { behind, gateway, call } = await setUp({ connectionsTotal: 1 });
    behind.plays(() => undefined);
    const first = await start(openConnection(gateway.port));
    first.send(requestOf('GET /jmap/session', { 'X-Forwarded-For': '192.0.2.1' }));
    await until(() => behind.requests.length === 1);
    assertRefusal(await call('192.0.2.2'), 'gateway_overloaded');
    behind.plays((_request, response) => response.end('{}'));
    first.destroy();
    await until(() => gateway.logLines().some(({ status }) => status === 499));
    assert.equal((await call('192.0.2.2')).status, 200);
  });

  it('keeps an address that fails to log in from the upstream, but not the credentials that are good', async () => {
    const { behind, call } = await setUp({ failures: 5 });
    behind.plays((request, response) => {
      response.statusCode = request.headers.authorization === basic('good') ? 200 : 401;
      response.end();
    });
    assert.equal((await call('192.0.2.1', { authorization: basic('good') })).status, 200);
    for (let i = 0; i < 5; i++)
      assert.equal((await call('192.0.2.1', { authorization: basic(`guess${i}`) })).status, 401);
    const reached = behind.requests.length;
    for (let i = 0; i < 20; i++) {
      const refused = await call('192.0.2.1', { authorization: basic(`more${i}`) });
      assertRefusal(refused, 'auth_attempts_limited');
      assert.ok(Number(refused.headers['retry-after']) > 80_000);
    }
    assert.equal(behind.requests.length, reached);
    assert.equal((await call('192.0.2.1', { authorization: basic('good') })).status, 200);
    assert.equal((await call('192.0.2.2', { authorization: basic('good') })).status, 200);
  });

  it('counts refused upgrades among the failures too', async () => {
    const { behind, gateway } = await setUp({ failures: 2 });
    behind.upgrades((_request, socket) => socket.end('HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n'));
    const answers: number[] = [];
    for (let i = 0; i < 3; i++) {
      const lines = { Connection: 'Upgrade', Upgrade: 'websocket', Authorization: basic(`guess${i}`) };
      answers.push((await ask(gateway.port, requestOf('GET /jmap/ws', lines))).status);
    }
    assert.deepEqual(answers, [401, 401, 429]);
  });
});
