// Limits of the sandbox mail server: bodies, heads, rates and requests in flight, each refused in its own odd shape.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConnection, requestOf } from '../support/connection.ts';
import { ADMINISTRATOR, basic, mailFor, PASSWORD } from './support/mail.ts';

const MIB = 1_048_576;
const PATH = '/api/principal/nobody';

test('a body over 1 MiB counts as none: 400 and the connection ends', async (context) => {
  const server = await mailFor(context);
  const connection = await openConnection(server.port);
  const headers = { Authorization: ADMINISTRATOR, 'Content-Length': String(MIB + 1) };
  connection.send(requestOf('POST /api/principal', headers));
  const answer = await connection.answer();
  assert.equal(answer?.status, 400);
  assert.equal(JSON.parse(String(answer?.body)).detail, 'JSON deserialization failed');
  assert.equal(answer?.headers.connection, 'close');
  await connection.closed;
});

test('the same holds for a body without an announced length, and one of exactly 1 MiB is read', async (context) => {
  const server = await mailFor(context);
  const connection = await openConnection(server.port);
  context.after(() => connection.destroy());
  connection.send(requestOf('POST /api/principal', { Authorization: ADMINISTRATOR, 'Transfer-Encoding': 'chunked' }));
  connection.send(`${(MIB + 1).toString(16)}\r\n`, Buffer.alloc(MIB + 1, 0x20));
  assert.equal((await connection.answer())?.status, 400);
  const body = JSON.stringify({ name: 'big' }).padEnd(MIB, ' ');
  assert.equal((await server.call('POST', '/api/principal', { body })).body.data, 1);
});

test('an answer before the body was read ends the connection', async (context) => {
  const server = await mailFor(context);
  const connection = await openConnection(server.port);
  connection.send(requestOf('POST /api/principal', { 'Content-Length': '10' }));
  const answer = await connection.answer();
  assert.deepEqual([answer?.status, answer?.headers.connection], [401, 'close']);
  await connection.closed;
});

test('the fifth request in flight of an account is 400 with a limit; an administrator has none', async (context) => {
  const server = await mailFor(context);
  await server.create({ name: 'busy', secrets: [PASSWORD], enabledPermissions: ['authenticate', 'individual-get'] });
  const busy = basic('busy', PASSWORD);
  /** Requests with endless bodies hold their places. */
  const hold = async (as: string) => {
    const open = await Promise.all(Array.from({ length: 5 }, () => openConnection(server.port)));
    const answers = open.map((connection) => {
      connection.send(requestOf('GET /api/principal', { Authorization: as, 'Content-Length': '1' }));
      return connection.answer();
    });
    return { answers, end: () => open.map((connection) => connection.destroy()) };
  };
  const held = await hold(busy);
  const refused = await Promise.race(held.answers);
  assert.equal(refused?.status, 400);
  const { type, status, limit, title } = JSON.parse(String(refused?.body));
  assert.deepEqual(
    [type, status, limit, title],
    ['urn:ietf:params:jmap:error:limit', 400, 'maxConcurrentRequests', undefined],
  );
  const exempt = await hold(ADMINISTRATOR);
  const first = await Promise.race([...exempt.answers, server.call('GET', '/api/other')]);
  assert.equal(first?.status, 404, 'no request is refused, so the one beside them is answered first');
  held.end();
  exempt.end();
  while ((await server.call('GET', PATH, { as: busy })).status === 400);
});

test('the cap can be put on the administrator too', async (context) => {
  const server = await mailFor(context, { exemption: false, inFlightMax: 1, answerDelayMs: 50 });
  const replies = await Promise.all([server.call('GET', PATH), server.call('GET', PATH)]);
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 400]);
  assert.equal((await server.call('GET', PATH)).status, 200);
});

test('requests a minute of an account are counted in windows of the clock, and 429 has no Retry-After', async (context) => {
  const server = await mailFor(context, { exemption: false, accountPerMinute: 2 });
  const statuses = [];
  for (let count = 0; count < 3; count += 1) statuses.push((await server.call('GET', PATH)).status);
  assert.deepEqual(statuses, [200, 200, 429]);
  const { body, headers } = await server.call('GET', PATH);
  assert.deepEqual([body.title, headers.has('retry-after')], ['Too Many Requests', false]);
  server.clock.nowMs += 60_000;
  assert.equal((await server.call('GET', PATH)).status, 200);
});

test('requests without an account are counted per address, Bearer always, Basic and loopback never', async (context) => {
  const server = await mailFor(context, { useForwarded: true, anonymousPerMinute: 2 });
  const statusFor = async (as: string | null, address: string, path = PATH) =>
    (await server.call('GET', path, { as, headers: { 'x-forwarded-for': address } })).status;
  await server.create({ type: 'apiKey', name: 'robot', secrets: [PASSWORD], roles: ['admin'] });
  const key = `Bearer api_${Buffer.from(`robot:${PASSWORD}`).toString('base64')}`;
  const anonymous = [];
  for (const as of [null, 'Digest x', key, basic('admin', 'wrong')]) anonymous.push(await statusFor(as, '192.0.2.1'));
  assert.deepEqual(anonymous, [401, 401, 429, 401]);
  assert.deepEqual([await statusFor(key, '192.0.2.2'), await statusFor(key, '192.0.2.2')], [200, 200]);
  assert.equal(await statusFor(null, '192.0.2.2', '/healthz/live'), 429);
  assert.equal(await statusFor(null, '192.0.2.2', '/.well-known/oauth-authorization-server'), 429);
  assert.equal(await statusFor(null, '192.0.2.2', '/jmap/session'), 200, 'is not counted');
  for (let count = 0; count < 4; count += 1) assert.equal(await statusFor(null, '127.0.0.1'), 401);
});

const malformed: readonly (readonly [what: string, bytes: Buffer | string, status: number])[] = [
  ['bytes that are no HTTP', 'NONSENSE\r\n\r\n', 400],
  ['a target over 65,534 bytes', requestOf(`GET /${'a'.repeat(65_534)}`), 414],
  [
    'more than a hundred headers',
    requestOf('GET /', Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`X-${index}`, 'v']))),
    431,
  ],
  ['headers over 400 KiB', requestOf('GET /', { 'X-Long': 'v'.repeat(410_000) }), 431],
];

for (const [what, bytes, status] of malformed) {
  test(`${what} is ${status} without a type and without a body`, async (context) => {
    const connection = await openConnection((await mailFor(context)).port);
    context.after(() => connection.destroy());
    connection.send(bytes);
    const answer = await connection.answer();
    assert.deepEqual([answer?.status, answer?.headers['content-type'], answer?.body.length], [status, undefined, 0]);
  });
}

test('too many bytes that are no HTTP ban their address, unless a proxy stands in between', async (context) => {
  for (const [useForwarded, reachable] of [
    [false, false],
    [true, true],
  ] as const) {
    const server = await mailFor(context, { malformedMax: 1, useForwarded });
    for (let count = 0; count < 2; count += 1) {
      const connection = await openConnection(server.port);
      connection.send('NONSENSE\r\n\r\n');
      assert.equal((await connection.answer())?.status, 400);
      connection.destroy();
    }
    const reached = await server.call('GET', PATH).then(
      () => true,
      () => false,
    );
    assert.equal(reached, reachable);
  }
});

test('one path that only a scanner requests is a ban, unless it is one that is always routed', async (context) => {
  const server = await mailFor(context);
  for (const path of ['/api/x.php', '/dav/x.php', '/index.php'])
    assert.notEqual((await server.call('GET', path)).status, 429, path);
  const { status, body } = await server.call('GET', '/jmap/x.php');
  assert.deepEqual([status, body.title], [429, 'Too Many Authentication Attempts']);
  // A connection from before would go on.
  const connection = await openConnection(server.port);
  connection.send(requestOf('GET /'));
  assert.equal(await connection.answer(), undefined);
});

test('uploads have places of their own', async (context) => {
  const server = await mailFor(context);
  const enabledPermissions = ['authenticate', 'unlimited-requests'];
  const id = await server.create({ name: 'sender', secrets: [PASSWORD], enabledPermissions });
  const open = await Promise.all(Array.from({ length: 5 }, () => openConnection(server.port)));
  const headers = { Authorization: basic('sender', PASSWORD), 'Content-Length': '10' };
  const answers = open.map((connection) => {
    connection.send(requestOf(`POST /jmap/upload/u${id}/`, headers));
    return connection.answer();
  });
  const refused = await Promise.race(answers);
  assert.equal(JSON.parse(String(refused?.body)).limit, 'maxConcurrentUpload');
  for (const connection of open) connection.send('0123456789');
  const statuses = (await Promise.all(answers)).map((answer) => answer?.status);
  assert.deepEqual(statuses.toSorted(), [200, 200, 200, 200, 400]);
  for (const connection of open) connection.destroy();
});

test('a login name that has used up its failures bans the next address that tries it', async (context) => {
  const server = await mailFor(context, { useForwarded: true, failuresMax: 2 });
  const attempt = async (name: string, address: string) => {
    const headers = { 'x-forwarded-for': address };
    return (await server.call('GET', PATH, { as: basic(name, 'wrong'), headers })).status;
  };
  assert.deepEqual([await attempt('target', '192.0.2.1'), await attempt('target', '192.0.2.2')], [401, 401]);
  assert.equal(await attempt('target', '192.0.2.3'), 429);
  assert.equal(await attempt('another', '192.0.2.3'), 403);
  assert.equal(await attempt('another', '192.0.2.1'), 401);
});
