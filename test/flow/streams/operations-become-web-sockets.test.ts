// An operation with `x-gateway-upgrade: websocket` goes through the whole pipeline and is then a tunnel.

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import { ConfigError } from '../../../gateway/shared/mistakes.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { until } from '../../support/connection.ts';
import { type GatewayOptions, startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type End, endOf, frame, GRANTED, HANDSHAKE, headOf, openWebSocket } from '../tunnel/open-ends.ts';

const start = closesAfterEach();

const room = {
  operationId: 'joinRoom',
  'x-gateway-upgrade': 'websocket',
  security: [{ apiKey: ['rooms:read'] }],
  parameters: [
    { name: 'room', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'since', in: 'query', schema: { type: 'integer' } },
  ],
  responses: { 101: { description: 'messages' }, 200: { description: 'history', content: { 'application/json': {} } } },
};

/** An upstream that grants every upgrade, or answers with this text. */
async function startChat(refusal?: string) {
  const asked: IncomingMessage[] = [];
  const granted: End[] = [];
  const held: Socket[] = [];
  let isHolding = false;
  let status = 200;
  const server = createServer((request, response) => {
    asked.push(request);
    response.writeHead(status, { 'Content-Type': 'application/json' }).end('[]');
  });
  const sockets = new Set<Socket>();
  server.on('upgrade', (request, socket: Socket) => {
    asked.push(request);
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (isHolding) held.push(socket);
    else if (refusal === undefined) {
      socket.write(`${GRANTED.slice(0, -2)}Set-Cookie: a=b\r\nX-Internal: 1\r\n\r\n`);
      granted.push(endOf(socket));
    } else socket.end(refusal);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    granted,
    /** Handshakes wait for `next`. */
    holds() {
      isHolding = true;
    },
    /** Answers the oldest handshake that waits. */
    next: (answer: string) => void held.shift()?.write(answer),
    /** Answers requests that ask for no upgrade with this status. */
    answers(other: number) {
      status = other;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function setUp(options: GatewayOptions = {}, refusal?: string) {
  const chat = await start(startChat(refusal));
  const started = await startGateway({
    ...thingsAt(chat.url, { basePath: '/chat' }, { '/v1/rooms/{room}/live': { get: room } }),
    ...options,
  });
  const gateway = await start(started);
  const { id, key } = await gateway.issueKey();
  const join = (path = '/chat/v1/rooms/a/live', lines: readonly string[] = [`Authorization: Bearer ${key}`]) =>
    openWebSocket(gateway.port, path, [...HANDSHAKE, ...lines]);
  return { chat, gateway, id, key, join };
}

const credential = { basic: { user: 'keeper', secret: 'chat_password' } };

const heldPaths = {
  '/v1/rooms/{room}/live': { get: room },
  '/v1/rooms/{room}/brief': { get: { ...room, operationId: 'joinBriefly', 'x-gateway-timeout': 300 } },
};

/** An upstream that answers a handshake when the test says so. */
async function setUpHeld(entry: object, more: GatewayOptions = {}) {
  const chat = await start(startChat());
  chat.holds();
  const gateway = await start(
    startGateway({
      ...thingsAt(chat.url, entry, heldPaths),
      environment: { CHAT_PASSWORD: 'of the keeper' },
      ...more,
    }),
  );
  const { key } = await gateway.issueKey();
  const join = (path = '/v1/rooms/a/live') =>
    openWebSocket(gateway.port, path, [...HANDSHAKE, `Authorization: Bearer ${key}`]);
  const refusal = 'HTTP/1.1 401 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
  return { chat, gateway, key, join, open: () => chat.next(GRANTED), refuse: () => chat.next(refusal) };
}

async function accessOf({ adminUrl }: { readonly adminUrl: string }) {
  const status = (await (await fetch(`${adminUrl}/status`)).json()) as {
    readonly upstreams: { readonly things: { in_flight: number; waiting: number; credential?: string } };
  };
  const { in_flight, waiting, credential } = status.upstreams.things;
  return { in_flight, waiting, credential };
}

/** The status line and the body of a refusal. */
async function refusalOf(client: End): Promise<string> {
  await client.ended;
  return client.received().toString();
}

describe('an operation with a WebSocket', () => {
  it('passes frames both ways once its request is admitted', async () => {
    const { chat, gateway, join } = await setUp();
    const client = await start(join('/chat/v1/rooms/a/live?since=3'));
    const head = await headOf(client);
    assert.match(head, /^HTTP\/1\.1 101 /);
    assert.doesNotMatch(head, /set-cookie|x-internal/i);
    const [asked] = chat.asked;
    assert.equal(asked?.url, '/v1/rooms/a/live?since=3');
    assert.equal(asked?.headers.authorization, undefined);
    assert.equal(asked?.headers['x-organization-id'], 'org_test');
    assert.ok(asked?.headers['x-gateway-assertion']);
    client.socket.write(frame(1, 'to the room'));
    const upstream = chat.granted[0] as End;
    assert.deepEqual(await upstream.takes(13), frame(1, 'to the room'));
    upstream.socket.write(frame(1, 'back'));
    assert.deepEqual(await client.takes(6), frame(1, 'back'));
    const status = await (await fetch(`${gateway.adminUrl}/status`)).json();
    assert.equal((status as { open_streams: { websocket: number } }).open_streams.websocket, 1);
    client.destroy();
    upstream.socket.end();
    const line = await until(() => gateway.logLines().find(({ stream }) => stream === 'websocket'));
    assert.deepEqual([line.status, line.operation], [101, 'joinRoom']);
  });

  for (const [name, code, path, lines] of [
    ['without a key', 'api_key_missing', undefined, []],
    ['with a parameter that violates the contract', 'validation_failed', '/chat/v1/rooms/a/live?since=x', undefined],
  ] as const) {
    it(`is refused ${name}`, async () => {
      const { chat, join } = await setUp();
      const client = await start(join(path, lines));
      assert.match(await refusalOf(client), new RegExp(`X-Error-Code: ${code}`));
      assert.deepEqual(chat.asked, []);
    });
  }

  it('is refused beyond the streams that the organization may have', async () => {
    const limits = { tiers: { standard: { requests: 1000, openStreams: 1 } } };
    const { join } = await setUp({ limits });
    await headOf(await start(join()));
    assert.match(await refusalOf(await start(join())), /X-Error-Code: too_many_streams/);
  });

  it('has the error object where the upstream refuses the upgrade', async () => {
    const body = '{"detail":"Not in this room"}';
    const refusal = `HTTP/1.1 403 No\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const { join } = await setUp({}, refusal);
    const answer = await refusalOf(await start(join()));
    assert.match(answer, /^HTTP\/1\.1 403 /);
    assert.match(answer, /"request_id"/);
  });

  it('without the wish for an upgrade is an operation like any other', async () => {
    const { gateway, key } = await setUp();
    const headers = { Authorization: `Bearer ${key}` };
    const answer = await fetch(`${gateway.url}/chat/v1/rooms/a/live`, { headers });
    assert.deepEqual([answer.status, await answer.text()], [200, '[]']);
  });

  it('ends within a second when its key is revoked', async () => {
    const { chat, gateway, id, join } = await setUp();
    const client = await start(join());
    await headOf(client);
    const from = performance.now();
    await gateway.store.keys.revoke(id, 'test', undefined);
    assert.deepEqual(await client.takes(4), Buffer.from([0x88, 0x02, 0x03, 0xf0]));
    await Promise.all([client.ended, chat.granted[0]?.ended]);
    assert.ok(performance.now() - from < 5000);
    const line = await until(() => gateway.logLines().find(({ stream }) => stream === 'websocket'));
    assert.equal(line.stream_end, 'credential');
  });

  it('gets the close code 1001 when the gateway ends', async () => {
    const chat = await start(startChat());
    const gateway = await startGateway({
      ...thingsAt(chat.url, {}, { '/v1/rooms/{room}/live': { get: room } }),
      gateway: { timeouts: { drainMs: 3000 } },
    });
    const { authorization } = await gateway.authorize();
    const client = await openWebSocket(gateway.port, '/v1/rooms/a/live', [
      ...HANDSHAKE,
      `Authorization: ${authorization}`,
    ]);
    await headOf(client);
    const stopped = gateway.stop();
    assert.deepEqual(await client.takes(4), Buffer.from([0x88, 0x02, 0x03, 0xe9]));
    client.socket.end();
    await stopped;
  });

  it('waits for a place, which an open one does not hold', async () => {
    const { chat, gateway, open, join } = await setUpHeld({ maxInFlight: 1 });
    const first = await start(join());
    await until(() => chat.asked.length === 1);
    const leaves = await start(join());
    const second = await start(join());
    await until(async () => (await accessOf(gateway)).waiting === 2);
    leaves.socket.resetAndDestroy();
    await until(() => gateway.logLines().some(({ status }) => status === 499));
    assert.equal(chat.asked.length, 1);
    open();
    assert.match(await headOf(first), /^HTTP\/1\.1 101 /);
    await until(() => chat.asked.length === 2);
    open();
    assert.match(await headOf(second), /^HTTP\/1\.1 101 /);
    assert.deepEqual(await accessOf(gateway), { in_flight: 0, waiting: 0, credential: undefined });
  });

  it('waits for a place no longer than its deadline', async () => {
    const { chat, join } = await setUpHeld({ maxInFlight: 1 });
    const brief = async () => /X-Error-Code: (\w+)/.exec(await refusalOf(await start(join('/v1/rooms/a/brief'))))?.[1];
    assert.equal(await brief(), 'upstream_timeout', 'the place is free');
    await start(join());
    await until(() => chat.asked.some(({ url }) => url?.endsWith('/live')));
    assert.equal(await brief(), 'upstream_overloaded');
  });

  it('tries an unproven secret once at a time, and sends a refused one to no further client', async () => {
    const { chat, gateway, refuse, join } = await setUpHeld({ credential });
    const clients = await Promise.all(Array.from({ length: 4 }, async () => start(join())));
    await until(async () => (await accessOf(gateway)).waiting === 3);
    await until(() => chat.asked.length === 1);
    refuse();
    for (const client of clients) assert.match(await refusalOf(client), /X-Error-Code: upstream_auth_failed/);
    assert.equal(chat.asked.length, 1);
  });

  it('probes a latched credential when that is due', async () => {
    let nowMs = Date.now();
    // biome-ignore lint/suspicious/noThenProperty: the name that the rules have.
    const answers = [{ when: { status: 403 }, then: { credential: 'refused' } }];
    const { chat, gateway, open, join, key } = await setUpHeld({ credential, answers }, { now: () => nowMs });
    const headers = { Authorization: `Bearer ${key}` };
    chat.answers(403);
    assert.equal((await fetch(`${gateway.url}/v1/rooms/a/live`, { headers })).status, 502);
    nowMs += 40_000;
    const client = await start(join());
    await until(() => chat.asked.length === 2);
    open();
    assert.match(await headOf(client), /^HTTP\/1\.1 101 /);
    assert.equal((await accessOf(gateway)).credential, 'proven');
  });

  it('must be a GET', async () => {
    const paths = { '/v1/rooms': { post: { ...room, parameters: [] } } };
    await assert.rejects(startGateway(thingsAt('http://127.0.0.1:1', {}, paths)), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.mistakes.map(({ reason }) => reason).join(), /only GET can be upgraded/);
      return true;
    });
  });
});
