// A mail client works through the gateway as it does without: by the mail user's own name and password, which the gateway does not look at.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { basic, newPassword, startMailWorld } from '../../support/mail.ts';

/** Of the mail server, for pings and idle limits: short, so that gaps of minutes pass in a second. */
const SECOND_MS = 10;
const CORE = 'urn:ietf:params:jmap:core';
const PUBLIC_URL = 'http://mail.example.com';

const gateway = { timeouts: { keepAliveMs: 100 } };
const world = await startMailWorld({ timeoutMs: 3000 }, { gateway }, { secondMs: SECOND_MS, publicUrl: PUBLIC_URL });
const password = newPassword();
await world.call('POST /api/principal', { name: 'dana', secrets: password });
const authorization = basic('dana', password);
after(() => world.stop());

/** An address out of a document of the mail server, on the gateway. */
const at = (address: string) => address.replace(PUBLIC_URL, world.gateway.url);
const get = (path: string, headers: Record<string, string> = { authorization }) =>
  fetch(world.gateway.url + path, { headers, redirect: 'manual' });

interface Session {
  readonly username: string;
  readonly primaryAccounts: Record<string, string>;
  readonly apiUrl: string;
  readonly uploadUrl: string;
  readonly downloadUrl: string;
  readonly eventSourceUrl: string;
  readonly capabilities: Record<string, { readonly url: string }>;
}
const session = async () => (await (await get('/jmap/session')).json()) as Session;

describe('a mail client', () => {
  it('discovers where JMAP is', async () => {
    const answer = await get('/.well-known/jmap', {});
    assert.deepEqual([answer.status, answer.headers.get('location')], [307, '/jmap/session']);
    const { username, primaryAccounts } = await session();
    assert.equal(username, 'dana');
    assert.match(primaryAccounts[CORE] ?? '', /^u\d+$/);
    const anonymous = await get('/jmap/session', {});
    assert.deepEqual([anonymous.status, ((await anonymous.json()) as Session).username], [200, '']);
    const metadata = await get('/.well-known/oauth-authorization-server', {});
    assert.equal(metadata.status, 200);
  });

  it('gets the error of a wrong password from the mail server, not from the gateway', async () => {
    const answer = await get('/jmap/session', { authorization: basic('dana', newPassword()) });
    assert.equal(answer.status, 401);
    assert.equal(answer.headers.get('content-type'), 'application/problem+json');
    assert.match(answer.headers.get('www-authenticate') ?? '', /Stalwart Server/);
  });

  it('is answered, and refused, in the words of the mail server', async () => {
    const { apiUrl } = await session();
    const post = (body: string) => fetch(at(apiUrl), { method: 'POST', headers: { authorization }, body });
    const answer = await post(JSON.stringify({ using: [CORE], methodCalls: [['Core/echo', { n: 1.5 }, 'c1']] }));
    assert.equal(answer.status, 200);
    const { methodResponses } = (await answer.json()) as { methodResponses: unknown };
    assert.deepEqual(methodResponses, [['Core/echo', { n: 1.5 }, 'c1']]);
    const refused = await post('{');
    assert.equal(refused.status, 400);
    assert.equal(((await refused.json()) as { type: string }).type, 'urn:ietf:params:jmap:error:notJSON');
    const grant = await fetch(`${world.gateway.url}/auth/token`, { method: 'POST', body: 'grant_type=nothing' });
    assert.equal(grant.status, 400);
    assert.equal(typeof ((await grant.json()) as { error: unknown }).error, 'string');
  });

  it('uploads and downloads, byte for byte', async () => {
    const { uploadUrl, downloadUrl, primaryAccounts } = await session();
    const accountId = primaryAccounts[CORE] ?? '';
    const content = randomBytes(3_000_000);
    const uploaded = await fetch(at(uploadUrl.replace('{accountId}', accountId)), {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/octet-stream' },
      body: content,
    });
    assert.equal(uploaded.status, 200);
    const { blobId, size } = (await uploaded.json()) as { blobId: string; size: number };
    assert.equal(size, content.length);
    const parts = { accountId, blobId, name: 'photo.jpg', type: 'image/jpeg' };
    const address = Object.entries(parts).reduce((url, [name, value]) => url.replace(`{${name}}`, value), downloadUrl);
    const downloaded = await fetch(at(address), { headers: { authorization } });
    assert.equal(downloaded.headers.get('content-type'), 'image/jpeg');
    assert.ok(Buffer.from(await downloaded.arrayBuffer()).equals(content));
  });

  it('gets changes as they come, after silences longer than every time-out', async () => {
    const { eventSourceUrl } = await session();
    const open = (closeafter: string, ping: string) =>
      fetch(at(eventSourceUrl).replace('{types}', '*').replace('{closeafter}', closeafter).replace('{ping}', ping), {
        headers: { authorization },
      });
    const silent = await open('state', '0');
    const pinged = await open('no', '30');
    assert.equal(silent.headers.get('content-type'), 'text/event-stream');
    const reader = (pinged.body as ReadableStream<Uint8Array>).getReader();
    for (let pings = 0; pings < 3; pings++)
      assert.match(Buffer.from((await reader.read()).value ?? []).toString(), /event: ping/);
    await reader.cancel();
    world.mail.server.push('dana', 'Email');
    assert.match(await silent.text(), /^event: state\ndata: \{/);
  });

  it('talks through a WebSocket, after silences longer than every time-out', async () => {
    const { capabilities } = await session();
    const { url } = capabilities['urn:ietf:params:jmap:websocket'] as { url: string };
    const address = url.replace(PUBLIC_URL.replace('http', 'ws'), world.gateway.url.replace('http', 'ws'));
    // The client of Node can send headers, which that of browsers cannot.
    const Client = WebSocket as unknown as new (address: string, options: object) => WebSocket;
    const socket = new Client(address, { protocols: ['jmap'], headers: { authorization } });
    const next = (event: string) =>
      new Promise<{ data: string; code: number }>((resolve) =>
        socket.addEventListener(event, (told) => resolve(told as unknown as { data: string; code: number }), {
          once: true,
        }),
      );
    await next('open');
    assert.equal(socket.protocol, 'jmap');
    const echoed = next('message');
    const request = { '@type': 'Request', id: 'r1', using: [CORE], methodCalls: [['Core/echo', { n: 1 }, 'c1']] };
    socket.send(JSON.stringify(request));
    assert.deepEqual(JSON.parse((await echoed).data).methodResponses, [['Core/echo', { n: 1 }, 'c1']]);
    await new Promise((resolve) => setTimeout(resolve, 700));
    const again = next('message');
    socket.send('anything');
    assert.equal((await again).data, 'anything');
    const closed = next('close');
    socket.close(4001, 'done');
    assert.equal((await closed).code, 4001);
  });

  it('is not let onto a WebSocket with a wrong password', async () => {
    const address = `${world.gateway.url.replace('http', 'ws')}/jmap/ws`;
    const Client = WebSocket as unknown as new (address: string, options: object) => WebSocket;
    const socket = new Client(address, { protocols: ['jmap'], headers: { authorization: basic('dana', 'wrong') } });
    await new Promise((resolve) => socket.addEventListener('error', resolve, { once: true }));
    assert.notEqual(socket.readyState, socket.OPEN);
  });
});
