// JMAP at the sandbox mail server: discovery, session, requests, blobs and the event stream; then OAuth and the pages.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openConnection, requestOf } from '../support/connection.ts';
import { ADMINISTRATOR, basic, mailFor, PASSWORD } from './support/mail.ts';

const server = await mailFor({ after });
const { call, create, url } = server;
const id = await create({ name: 'alice', secrets: [PASSWORD], roles: ['user'] });
const alice = basic('alice', PASSWORD);
const ACCOUNT = `u${id}`;

test('discovery redirects to a relative session, without authentication', async () => {
  const { status, headers } = await call('GET', '/.well-known/jmap', { as: null });
  assert.deepEqual([status, headers.get('location')], [307, '/jmap/session']);
});

test('the session without credentials has URLs and no accounts, with them the account', async () => {
  const anonymous = (await call('GET', '/jmap/session', { as: null })).body;
  assert.deepEqual([anonymous.accounts, anonymous.username, anonymous.apiUrl], [{}, '', `${url}/jmap/`]);
  const { body } = await call('GET', '/jmap/session', { as: alice });
  assert.deepEqual([body.username, Object.keys(body.accounts)], ['alice', [ACCOUNT]]);
  assert.equal(body.capabilities['urn:ietf:params:jmap:websocket'].url, `${url.replace('http', 'ws')}/jmap/ws`);
  assert.equal((await call('GET', '/jmap/session', { as: basic('alice', 'wrong') })).status, 401);
});

test('URLs are the configured ones, for any host headers of the request', async (context) => {
  const server = await mailFor(context, { publicUrl: 'https://mail.example.com' });
  const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
  const { text, body } = await server.call('GET', '/jmap/session', { as: null, headers });
  assert.equal(body.uploadUrl, 'https://mail.example.com/jmap/upload/{accountId}/');
  assert.equal(body.capabilities['urn:ietf:params:jmap:websocket'].url, 'wss://mail.example.com/jmap/ws');
  assert.equal(text.includes('evil'), false);
  const oauth = (await server.call('GET', '/.well-known/oauth-authorization-server', { as: null })).body;
  assert.equal(oauth.token_endpoint, 'https://mail.example.com/auth/token');
});

const using = ['urn:ietf:params:jmap:core'];

test('Core/echo echoes, and a method that is not known is an error of its own call', async () => {
  const methodCalls = [
    ['Core/echo', { a: [1, null] }, 'c1'],
    ['Nothing/get', {}, 'c2'],
  ];
  for (const path of ['/jmap', '/jmap/']) {
    const { status, body } = await call('POST', path, { as: alice, body: { using, methodCalls } });
    assert.equal(status, 200);
    assert.deepEqual(body.methodResponses, [methodCalls[0], ['error', { type: 'unknownMethod' }, 'c2']]);
  }
});

test('a request that cannot be understood as a whole is a problem of JMAP, without a title', async () => {
  const echo = ['Core/echo', {}, 'c'];
  const cases: readonly [unknown, string, string?][] = [
    ['{', 'notJSON'],
    ['', 'notJSON'],
    ['null', 'notRequest'],
    [{ using }, 'notRequest'],
    [{ using: [1], methodCalls: [] }, 'notRequest'],
    [{ using, methodCalls: [['Core/echo', {}]] }, 'notRequest'],
    [{ using: ['urn:x'], methodCalls: [] }, 'unknownCapability'],
    [{ using, methodCalls: Array(17).fill(echo) }, 'limit', 'maxCallsInRequest'],
  ];
  for (const [body, type, limit] of cases) {
    const reply = await call('POST', '/jmap', { as: alice, body });
    assert.equal(reply.headers.get('content-type'), 'application/problem+json');
    const { status, title } = reply.body;
    assert.deepEqual(
      [reply.status, status, reply.body.type, reply.body.limit, title],
      [400, 400, `urn:ietf:params:jmap:error:${type}`, limit, undefined],
    );
  }
});

test('a request over 10,000,000 bytes is 400 maxSizeRequest', async () => {
  const connection = await openConnection(server.port);
  connection.send(requestOf('POST /jmap', { Authorization: alice, 'Content-Length': '10000001' }));
  assert.equal(JSON.parse(String((await connection.answer())?.body)).limit, 'maxSizeRequest');
  connection.destroy();
});

test('an upload comes back by its name, byte for byte, under the type the caller chooses', async () => {
  const content = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
  const uploaded = await fetch(`${url}/jmap/upload/${ACCOUNT}/`, {
    method: 'POST',
    headers: { authorization: alice, 'content-type': 'image/png' },
    body: content,
  });
  const { accountId, blobId, type, size } = (await uploaded.json()) as Record<string, string | number>;
  assert.deepEqual([accountId, type, size], [ACCOUNT, 'image/png', content.length]);
  const path = `/jmap/download/${ACCOUNT}/${blobId}/a%22.png`;
  const answer = await fetch(`${url}${path}?accept=text%2Fhtml`, { headers: { authorization: alice } });
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), content);
  const { headers } = answer;
  assert.equal(headers.get('content-type'), 'text/html');
  assert.equal(headers.get('cache-control'), 'private, immutable, max-age=31536000');
  assert.equal(headers.get('content-disposition'), 'attachment; filename="a%22.png"');
  const odd = await fetch(`${url}${path}?accept=a%0d%0ab`, { headers: { authorization: alice, range: 'bytes=0-1' } });
  assert.deepEqual([odd.status, odd.headers.get('content-type')], [200, 'application/octet-stream'], 'no ranges');
  await odd.arrayBuffer();
  assert.equal((await call('GET', path, { as: ADMINISTRATOR })).status, 403, 'belongs to another account');
  assert.equal((await call('GET', `/jmap/download/${ACCOUNT}/c0/x`, { as: alice })).status, 404);
  assert.equal((await call('POST', '/jmap/upload/u0/', { as: alice, body: 'x' })).status, 403);
});

test('an upload over 50,000,000 bytes is 400 maxSizeUpload', async () => {
  const connection = await openConnection(server.port);
  connection.send(requestOf(`POST /jmap/upload/${ACCOUNT}/`, { Authorization: alice, 'Content-Length': '50000001' }));
  assert.equal(JSON.parse(String((await connection.answer())?.body)).limit, 'maxSizeUpload');
  connection.destroy();
});

test('an upload that is broken off leaves the server as it was', async () => {
  const connection = await openConnection(server.port);
  connection.send(
    requestOf(`POST /jmap/upload/${ACCOUNT}/`, { Authorization: alice, 'Content-Length': '100' }),
    'part',
  );
  connection.destroy();
  assert.equal((await call('POST', `/jmap/upload/${ACCOUNT}/`, { as: alice, body: 'whole' })).body.size, 5);
});

/** Reads the stream until the pattern has come, or to its end. */
async function readEvents(path: string, until: RegExp, from: { port: number; call: typeof call }, act = () => {}) {
  const answer = await fetch(`http://127.0.0.1:${from.port}${path}`, { headers: { authorization: ADMINISTRATOR } });
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/event-stream']);
  act();
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (until.test(text)) break;
  }
  return text;
}

test('the event stream pings in the requested interval, at least thirty seconds long', async (context) => {
  const quick = await mailFor(context, { secondMs: 2 });
  const pings = await readEvents('/jmap/eventsource/?types=*&closeafter=no&ping=31', /(event: ping\n.*\n\n){2}/, quick);
  assert.ok(pings.startsWith('event: ping\ndata: {"interval":31}\n\nevent: ping\n'), pings);
  const clamped = await readEvents('/jmap/eventsource/?ping=1', /ping/, quick);
  assert.match(clamped, /"interval":30/);
});

test('without a ping the stream is silent; it reports changes of the requested types, and ends after one on request', async (context) => {
  const quick = await mailFor(context, { secondMs: 1 });
  const act = () => {
    // Longer than any ping would take.
    setTimeout(() => {
      for (const type of ['Mailbox', 'Email', 'Thread']) quick.mail.push('admin', type);
    }, 80);
  };
  const text = await readEvents('/jmap/eventsource/?types=Email,Thread&closeafter=state&ping=0', /never/, quick, act);
  assert.equal(text, 'event: state\ndata: {"@type":"StateChange","changed":{"u0":{"Email":"s2"}}}\n\n');
});

test('parameters of the stream that are wrong are 400, and without credentials it is 401', async () => {
  for (const query of ['closeafter=never', 'ping=-1', 'ping=x'])
    assert.equal((await call('GET', `/jmap/eventsource/?${query}`)).status, 400, query);
  assert.equal((await call('GET', '/jmap/eventsource/', { as: null })).status, 401);
});

test('OAuth failures have the shape of OAuth', async () => {
  const post = async (path: string, body: string) => {
    const { status, body: answer } = await call('POST', path, { as: null, body });
    return [status, answer.error];
  };
  assert.deepEqual(await post('/auth/token', ''), [400, 'invalid_request']);
  assert.deepEqual(await post('/auth/token', 'grant_type=password&client_id=a'), [400, 'unsupported_grant_type']);
  assert.deepEqual(await post('/auth/token', 'grant_type=refresh_token&client_id=a'), [400, 'invalid_grant']);
  assert.deepEqual(await post('/auth/device', ''), [400, 'invalid_request']);
  const { body } = await call('POST', '/auth/device', { as: null, body: 'client_id=a' });
  assert.equal(body.verification_uri, `${url}/authorize`);
  const grant = `grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=${body.device_code}&client_id=`;
  assert.deepEqual(await post('/auth/token', `${grant}a`), [400, 'authorization_pending']);
  assert.deepEqual(await post('/auth/token', `${grant}b`), [400, 'invalid_grant']);
  server.clock.nowMs += body.expires_in * 1000;
  assert.deepEqual(await post('/auth/token', `${grant}a`), [400, 'expired_token']);
});

test('every path that nothing else has is the index page, with any method; known ones are 404', async () => {
  const index = (await call('GET', '/', { as: null })).text;
  for (const [method, path] of [
    ['GET', '/admin'],
    ['POST', '/anything/at/all'],
    ['DELETE', '/manage'],
  ] as const) {
    const { status, headers, text } = await call(method, path, { as: null });
    assert.deepEqual([status, headers.get('content-type'), text], [200, 'text/html; charset=utf-8', index], path);
  }
  const login = await call('GET', '/login', { as: null });
  assert.match(login.text, /<form/);
  for (const path of ['/auth/x', '/.well-known/x', '/dav/x', '/mail/x', '/metrics/prometheus'])
    assert.equal((await call('GET', path, { as: null })).status, 404, path);
  assert.deepEqual((await call('GET', '/healthz/ready', { as: null })).body.title, 'OK');
});
