// A session ends by a logout of the person, of another device, of the provider and of an operator. On two instances over Redis, requests
// are refused and open event streams and WebSockets are ended within a second.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { administerAt, OWN_ENTRY } from '../../support/administration.ts';
import type { CookieBrowser } from '../../support/cookie-browser.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { ownContract } from '../../support/own-contract.ts';
import { startRedis } from '../../support/redis.ts';
import { startSessionGateway } from '../../support/sessions.ts';
import { GRANTED, HANDSHAKE, headOf, openWebSocket } from '../tunnel/open-ends.ts';

/** The promise is a second; a loaded machine adds to it. A stream that nothing ends stays open. */
const SOON_MS = 5000;

const upstream = await startStreams();
const redis = await startRedis();
const security = [{ apiKey: ['things:read'] }];
const running = await startSessionGateway({
  instances: 2,
  upstream,
  environment: { REDIS_URL: redis.url, SESSION_KEYS: randomBytes(24).toString('base64url') },
  upstreams: OWN_ENTRY,
  contracts: ownContract,
  provider: { requirePushedRequests: true, authentication: 'private_key_jwt' },
  paths: {
    '/v1/events': {
      get: {
        operationId: 'readEvents',
        security,
        responses: { 200: { description: 'events', content: { 'text/event-stream': {} } } },
      },
    },
    '/v1/room': {
      get: {
        operationId: 'joinRoom',
        security,
        'x-gateway-upgrade': 'websocket',
        responses: { 101: { description: 'messages' }, 200: { description: 'x', content: { 'application/json': {} } } },
      },
    },
  },
});
const { origin, provider, gateways } = running;
after(async () => {
  await running.close();
  await redis.stop();
});

/** A service with an event stream and a WebSocket that it never ends. */
async function startStreams() {
  const sockets = new Set<Socket>();
  const server = createServer((request, response: ServerResponse) => {
    if (request.url === '/v1/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: hello\n\n');
    } else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.on('upgrade', (_request, socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write(GRANTED);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const cookieOf = (browser: CookieBrowser) => `gateway-session=${browser.cookies(origin).get('gateway-session')?.value}`;
const own = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' };
const ask = (gateway: TestGateway, path: string, cookie: string) =>
  fetch(gateway.url + path, { headers: { ...own, cookie } });

/** Opens an event stream and a WebSocket at each instance. Returns what resolves when all of them have ended. */
async function openStreams(cookie: string): Promise<() => Promise<unknown>> {
  const ends: Promise<unknown>[] = [];
  for (const gateway of gateways) {
    const answer = await ask(gateway, '/v1/events', cookie);
    assert.equal(answer.status, 200, await (answer.status === 200 ? '' : answer.text()));
    ends.push(answer.text());
    const lines = [
      `Host: ${new URL(gateway.url).host}`,
      `Cookie: ${cookie}`,
      'Sec-Fetch-Site: same-origin',
      `Origin: ${origin}`,
    ];
    const socket = await openWebSocket(gateway.port, '/v1/room', [...HANDSHAKE, ...lines]);
    assert.match(await headOf(socket), /^HTTP\/1.1 101/);
    ends.push(socket.ended);
  }
  return () => Promise.all(ends);
}

async function endsBy(cookie: string, act: () => Promise<unknown>): Promise<void> {
  const streams = await openStreams(cookie);
  await act();
  const from = performance.now();
  const late = setTimeout(SOON_MS, 'late', { ref: false });
  assert.notEqual(await Promise.race([streams(), late]), 'late', `${performance.now() - from} ms`);
  for (const gateway of gateways) {
    const answer = await ask(gateway, '/v1/things', cookie);
    assert.equal(answer.headers.get('x-error-code'), 'session_expired');
  }
}

describe('a session', () => {
  it('ends by signing out', async () => {
    const browser = await running.signIn('ada');
    await endsBy(cookieOf(browser), () => browser.fetch(`${origin}/session/logout`, { method: 'POST' }));
    assert.deepEqual(provider.errors, []);
  });

  it('ends from another device of the person', async () => {
    const phone = await running.signIn('eve');
    const desk = await running.signIn('eve');
    const { id } = (await phone.fetch(`${origin}/session`)).body;
    const listed = (await desk.fetch(`${origin}/session/list`)).body.data as { id: string; current: boolean }[];
    assert.deepEqual(
      listed.map(({ id: one, current }) => [one === id, current]),
      [
        [true, false],
        [false, true],
      ],
    );
    await endsBy(cookieOf(phone), () => desk.fetch(`${origin}/session/${id}`, { method: 'DELETE' }));
    assert.equal((await desk.fetch(`${origin}/session`)).status, 200);
  });

  it('ends when the person signs out at the provider', async () => {
    const browser = await running.signIn('bob');
    await endsBy(cookieOf(browser), async () => {
      // As the person does: the page of the provider, and its button.
      const page = await browser.step(`${provider.issuer}/session/end`, 'none');
      const [, action = ''] = /action="([^"]+)"/.exec(page.text) ?? [];
      const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page.text) ?? [];
      const cookies = [...browser.cookies(provider.issuer)].map(([name, { value }]) => `${name}=${value}`).join('; ');
      await fetch(action, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: cookies, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ xsrf, logout: 'yes' }).toString(),
      });
    });
    assert.deepEqual(provider.errors, []);
  });

  it('ends by an operator, who is named in the audit log', async () => {
    const browser = await running.signIn('carl');
    const { id } = (await browser.fetch(`${origin}/session`)).body;
    const [gateway] = gateways as [TestGateway];
    const { key } = await gateway.issueKey({
      organization: 'org_staff',
      operator: true,
      scopes: ['gateway:sessions:read', 'gateway:sessions:write', 'gateway:audit:read'],
    });
    const administer = administerAt({ url: gateways[1]?.url ?? '' });
    const list = async () => {
      const { body } = await administer('GET /gateway/v1/organizations/org_test/sessions?limit=100', { key });
      return (body.data as { id: string; subject: string }[]).find((one) => one.id === id)?.subject;
    };
    assert.equal(await list(), 'carl');
    const line = `POST /gateway/v1/organizations/org_test/sessions/${id}/end`;
    assert.equal(
      (await administer(line.replace('org_test', 'org_staff'), { key })).status,
      404,
      'of another organization',
    );
    await endsBy(cookieOf(browser), async () => {
      const ended = await administer(line, { key });
      assert.equal(ended.status, 200, ended.text);
    });
    assert.equal(await list(), undefined);
    assert.equal((await administer(line, { key })).status, 404);
    const { body } = await administer('GET /gateway/v1/audit?limit=5', { key });
    const entry = (body.data as { kind: string; details: { session?: string } }[]).find(
      ({ kind }) => kind === 'session.ended',
    );
    assert.equal(entry?.details.session, id);
  });

  it('is one of a bounded number: another login ends the session that was used least recently', async () => {
    const first = await running.signIn('dora');
    for (let more = 0; more < 20; more += 1) await running.signIn('dora');
    const endsAt = performance.now() + SOON_MS;
    let status = 200;
    while (status === 200 && performance.now() < endsAt) ({ status } = await first.fetch(`${origin}/session`));
    assert.equal(status, 401);
  });
});
