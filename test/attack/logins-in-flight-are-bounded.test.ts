// Guesses that are sent at once, before the first failure is known. The upstream holds all answers back, so that everything the gateway
// lets through is in flight together; with 6 addresses and 20 connections each, 120 guesses reached an upstream where 35 failures were
// allowed.

import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { startBehind, startTunnel, type TunnelOptions, tunnelAt } from '../flow/tunnel/mail-tunnel.ts';
import { headOf, openWebSocket } from '../flow/tunnel/open-ends.ts';
import { closesAfterEach } from '../support/closing.ts';
import { writeConfiguration } from '../support/configuration.ts';
import { type Answer, ask, openConnection, requestOf, until, untilStill } from '../support/connection.ts';
import type { TestGateway } from '../support/gateway.ts';
import { eventually, startInstances } from '../support/instances.ts';
import { lookInside, startRedis, startRelay } from '../support/redis.ts';

const start = closesAfterEach();
const LIMITS = { failures: 20, failuresTotal: 35, connections: 20 };
const gatewayOf = { trustedProxies: ['127.0.0.1'] };
const basic = (user: string) => `Basic ${Buffer.from(`${user}:word`).toString('base64')}`;

type Behind = Awaited<ReturnType<typeof startBehind>>;

/** An upstream that answers nothing until it is told to. */
async function startHolding() {
  const behind = await start(startBehind());
  const held: (readonly [IncomingMessage, ServerResponse])[] = [];
  let statusOf: ((request: IncomingMessage) => number) | undefined;
  function answer(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(statusOf?.(request) ?? 500).end();
  }
  behind.plays((request, response) => {
    if (statusOf === undefined) held.push([request, response]);
    else answer(request, response);
  });
  return {
    behind,
    held,
    /** Answers all that is held, and all that comes. */
    release(of: (request: IncomingMessage) => number) {
      statusOf = of;
      for (const [request, response] of held.splice(0)) answer(request, response);
    },
  };
}

async function setUp(limits: object = LIMITS, more: TunnelOptions = {}) {
  const holding = await startHolding();
  const gateway = await start(startTunnel(holding.behind.url, { tunnel: { limits }, gateway: gatewayOf, ...more }));
  return { ...holding, gateway };
}

function guess(gateway: TestGateway, address: string, user: string, line = 'GET /jmap/session'): Promise<Answer> {
  return ask(gateway.port, requestOf(line, { 'X-Forwarded-For': address, Authorization: basic(user) }));
}

/** 20 guesses from each of 6 addresses, spread over the gateways. */
function guessTogether(...gateways: readonly TestGateway[]): Promise<Answer>[] {
  return Array.from({ length: 120 }, (_, i) =>
    guess(gateways[i % gateways.length] as TestGateway, `192.0.2.${i % 6}`, `user-${i}`),
  );
}

const statusesOf = async (answers: readonly Promise<Answer>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);
const countOf = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length;

/** Everything that reaches the upstream has arrived there. */
const allArrived = (behind: Behind) => untilStill(() => behind.requests.length);

describe('guesses in flight', () => {
  it('reach the upstream as often as failures are allowed, and no more', async () => {
    const { behind, gateway, release } = await setUp();
    const answers = guessTogether(gateway);
    await until(() => behind.requests.length >= 35);
    await allArrived(behind);
    assert.equal(behind.requests.length, 35);
    release(() => 401);
    const statuses = await statusesOf(answers);
    assert.deepEqual([countOf(statuses, 401), countOf(statuses, 429)], [35, 85]);
    assert.equal(behind.requests.length, 35);
  });

  it('reach it from one address as often as that address may fail', async () => {
    const { behind, gateway, release } = await setUp({ failures: 3, failuresTotal: 35, connections: 20 });
    const answers = Array.from({ length: 20 }, (_, i) => guess(gateway, '192.0.2.1', `user-${i}`));
    await until(() => behind.requests.length >= 3);
    await allArrived(behind);
    assert.equal(behind.requests.length, 3);
    release(() => 401);
    assert.equal(countOf(await statusesOf(answers), 429), 17);
  });

  it('are bounded as handshakes too, and a client that leaves while it waits harms nothing', async () => {
    const { behind, gateway } = await setUp({ failures: 2, connections: 20 });
    const held = new Map<string, () => void>();
    behind.upgrades(({ headers }, socket) =>
      held.set(headers.authorization as string, () => socket.end('HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n')),
    );
    const lines = (i: number) => [
      ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
      ...['Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==', `Authorization: ${basic(`user-${i}`)}`],
    ];
    const clients = await Promise.all(
      Array.from({ length: 6 }, (_, i) => start(openWebSocket(gateway.port, '/jmap/ws', lines(i)))),
    );
    await until(() => held.size === 2);
    await allArrived(behind);
    assert.equal(behind.requests.length, 2);
    const waiting = clients.filter((_, i) => !held.has(basic(`user-${i}`)));
    for (const { socket } of waiting.slice(1)) socket.resetAndDestroy();
    for (const answer of held.values()) answer();
    const [last] = waiting as [(typeof waiting)[number]];
    assert.match(await headOf(last), /^HTTP\/1\.1 429 /);
    await until(() => gateway.logLines().length === 6);
    const statuses = gateway.logLines().map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [401, 401, 429, 499, 499, 499]);
    assert.equal(behind.requests.length, 2);
  });

  it('count as failures if their clients leave before the answer', async () => {
    const { behind, gateway } = await setUp({ failures: 5, failuresTotal: 8, connections: 20 });
    for (let i = 0; i < 12; i++) {
      const connection = await openConnection(gateway.port);
      const reached = behind.requests.length;
      connection.send(
        requestOf('GET /jmap/session', { 'X-Forwarded-For': `192.0.2.${i % 3}`, Authorization: basic(`user-${i}`) }),
      );
      await until(() => behind.requests.length > reached || connection.rest().length > 0);
      connection.destroy();
      await until(() => gateway.logLines().length > i);
    }
    assert.equal(behind.requests.length, 8);
    assert.equal((await guess(gateway, '192.0.2.9', 'user')).status, 429);
  });

  it('count as failures if their clients do not finish the request', async () => {
    const { behind, gateway } = await setUp({ failures: 1, connections: 20 }, { entry: { timeoutMs: 200 } });
    const head = requestOf('POST /jmap/', { 'Content-Length': '10', Authorization: basic('user') });
    const begun = Buffer.concat([head, Buffer.from('{')]);
    assert.equal((await ask(gateway.port, begun)).status, 408);
    assert.equal((await guess(gateway, '127.0.0.1', 'other')).status, 429);
    assert.equal(behind.requests.length, 1);
  });
});

describe('good credentials in flight', () => {
  it('are all admitted, ten at once from each of many clients', async () => {
    const { behind, gateway, release } = await setUp();
    const answers = Array.from({ length: 80 }, (_, i) => guess(gateway, `192.0.2.${i % 8}`, `user-${i % 8}`));
    await until(() => behind.requests.length >= 35);
    release(() => 200);
    assert.equal(countOf(await statusesOf(answers), 200), 80);
    const again = Array.from({ length: 80 }, (_, i) => guess(gateway, `192.0.2.${i % 8}`, `user-${i % 8}`));
    assert.equal(countOf(await statusesOf(again), 200), 80);
  });

  it('give their unit back with the head of the answer, not at the end of a stream', async () => {
    const { behind, gateway } = await setUp({ failures: 2, failuresTotal: 2, connections: 20 });
    behind.plays((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
    );
    behind.upgrades((_request, socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    );
    for (let i = 0; i < 6; i++) {
      const stream = await start(openConnection(gateway.port));
      stream.send(requestOf('GET /jmap/eventsource/', { Authorization: basic(`stream-${i}`) }));
      await until(() => stream.rest().includes('\r\n\r\n'));
      assert.match(stream.rest().toString(), /^HTTP\/1\.1 200 /);
      const lines = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
      const key = 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==';
      const socket = await start(
        openWebSocket(gateway.port, '/jmap/ws', [...lines, key, `Authorization: ${basic(`socket-${i}`)}`]),
      );
      assert.match(await headOf(socket), /^HTTP\/1\.1 101 /);
    }
  });

  it('lose nothing to an upstream that dies without an answer, or refuses connections', async () => {
    const { behind, gateway, release } = await setUp({ failures: 2, failuresTotal: 2, connections: 20 });
    behind.plays((request) => request.socket.destroy());
    for (let i = 0; i < 10; i++) assert.equal((await guess(gateway, '192.0.2.1', `user-${i}`)).status, 502);
    behind.plays((_request, response) => response.end('{}'));
    release(() => 200);
    assert.equal((await guess(gateway, '192.0.2.1', 'user')).status, 200);
    await behind.close();
    for (let i = 0; i < 10; i++) assert.ok((await guess(gateway, '192.0.2.1', `user-${i}`)).status >= 502);
  });

  it('keep their units over a reload that changes the limits, and give them back', async () => {
    const { behind, gateway, release } = await setUp({ failures: 2, failuresTotal: 2, connections: 20 });
    const first = [guess(gateway, '192.0.2.1', 'one'), guess(gateway, '192.0.2.2', 'two')];
    await until(() => behind.requests.length === 2);
    const tunnel = { limits: { failures: 3, connections: 20 } };
    writeConfiguration(gateway.directory, tunnelAt(behind.url, { tunnel, gateway: gatewayOf }));
    await gateway.app.reload();
    const second = Array.from({ length: 3 }, (_, i) => guess(gateway, '192.0.2.1', `more-${i}`));
    await until(() => behind.requests.length >= 4);
    await allArrived(behind);
    assert.equal(behind.requests.length, 4, 'three of the address, one of which began before');
    release(() => 200);
    assert.deepEqual(await statusesOf([...first, ...second]), [200, 200, 200, 200, 200]);
  });
});

describe('guesses over two instances', () => {
  async function setUpTwo() {
    const redis = await start(startRedis());
    const relay = await start(startRelay(redis.url));
    const holding = await startHolding();
    const options = tunnelAt(holding.behind.url, { tunnel: { limits: LIMITS }, gateway: gatewayOf });
    const { gateways } = await start(startInstances([relay.url, relay.url], options));
    const client = lookInside(redis.url);
    await start({ destroy: () => client.disconnect() });
    return { ...holding, relay, client, gateways };
  }

  it('are bounded by both together', async () => {
    const { behind, gateways, release, client } = await setUpTwo();
    const answers = guessTogether(...gateways);
    await until(() => behind.requests.length >= 35);
    await allArrived(behind);
    assert.equal(behind.requests.length, 35);
    release(() => 401);
    const statuses = await statusesOf(answers);
    assert.deepEqual([countOf(statuses, 401), countOf(statuses, 429)], [35, 85]);
    await eventually(async () => (await client.keys('reserved:*')).length === 0);
    assert.equal(await client.get('failures:total:things/0:all'), '35');
  });

  it('take units that the other instance gives back', async () => {
    const { gateways, release, behind } = await setUpTwo();
    const [first, second] = gateways as [TestGateway, TestGateway];
    const answers = Array.from({ length: 70 }, (_, i) => guess(i < 35 ? first : second, `192.0.2.${i}`, `user-${i}`));
    await until(() => behind.requests.length >= 35);
    release(() => 200);
    assert.equal(countOf(await statusesOf(answers), 200), 70);
  });

  it('are bounded by each alone while Redis is away, also if it goes while they are in flight', async () => {
    const { behind, gateways, relay, release } = await setUpTwo();
    const [first] = gateways as [TestGateway];
    const before = Array.from({ length: 20 }, (_, i) => guess(first, `192.0.2.${i}`, `before-${i}`));
    await until(() => behind.requests.length === 20);
    await relay.kill();
    const answers = Array.from({ length: 60 }, (_, i) => guess(first, `198.51.100.${i % 6}`, `user-${i}`));
    await until(() => behind.requests.length >= 35);
    await allArrived(behind);
    assert.equal(behind.requests.length, 35, 'those that began before count still');
    release(() => 401);
    const statuses = await statusesOf([...before, ...answers]);
    assert.deepEqual([countOf(statuses, 401), countOf(statuses, 429)], [35, 45]);
    await relay.restart();
  });
});
