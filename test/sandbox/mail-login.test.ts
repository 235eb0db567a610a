// Logging in at the sandbox mail server: the answer to each failure, and when an address is banned for good.
import assert from 'node:assert/strict';
import { createHmac, randomBytes, scryptSync } from 'node:crypto';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openConnection, requestOf } from '../support/connection.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { ADMINISTRATOR, basic, mailFor, PASSWORD } from './support/mail.ts';

const server = await mailFor({ after }, { failuresMax: 1000 });
const { call, create, clock } = server;
const PATH = '/api/principal/nobody';
const statusFor = async (as: string | null, path = PATH) => (await call('GET', path, { as })).status;

const refusals: readonly (readonly [what: string, as: string | null, challenged: boolean])[] = [
  ['no credential', null, false],
  ['a value without a space', 'Basic', false],
  ['a wrong password', basic('admin', 'wrong'), false],
  ['an unknown name', basic('nobody', PASSWORD), false],
  ['text that is no base64', 'Basic *', true],
  ['base64 of bytes that are no UTF-8', `Basic ${Buffer.from([0xff, 0x3a, 0x61]).toString('base64')}`, true],
  ['base64 without a colon', `Basic ${Buffer.from('admin').toString('base64')}`, true],
  ['another scheme', 'Digest abc', true],
  ['a token that was never issued', 'Bearer abc', true],
  ['the password in a token', `Bearer ${PASSWORD}`, true],
];

for (const [what, as, challenged] of refusals) {
  test(`${what} is the same 401 on /api ${challenged ? 'with' : 'without'} challenges, and with them elsewhere`, async () => {
    const { status, headers, body } = await call('GET', PATH, { as });
    assert.deepEqual([status, headers.get('content-type')], [401, 'application/problem+json']);
    assert.deepEqual([body.title, body.status], ['Unauthorized', 401]);
    const challenges = headers.get('www-authenticate');
    assert.equal(challenges, challenged ? 'Bearer realm="Stalwart Server", Basic realm="Stalwart Server"' : null);
    const elsewhere = await call('POST', '/jmap', { as });
    assert.deepEqual([elsewhere.status, elsewhere.headers.has('www-authenticate')], [401, true]);
  });
}

test('a name is trimmed and lower-cased, and the password begins after the first colon', async (context) => {
  const server = await mailFor(context, { administrator: () => ({ user: 'admin', password: 'a:b' }) });
  const { status } = await server.call('GET', PATH, { as: basic(' ADMIN ', 'a:b') });
  assert.equal(status, 200);
});

test('an administrator with capitals can never log in, and one that changes can at once', async (context) => {
  let user = 'Admin';
  const server = await mailFor(context, { administrator: () => ({ user, password: PASSWORD }) });
  const status = async () => (await server.call('GET', PATH, { as: basic(user, PASSWORD) })).status;
  assert.equal(await status(), 401);
  user = 'root';
  assert.equal(await status(), 200);
});

test('an account without roles cannot log in', async () => {
  await create({ name: 'plain', secrets: [PASSWORD] });
  assert.equal(await statusFor(basic('plain', PASSWORD)), 403);
  await call('PATCH', '/api/principal/plain', { body: [{ action: 'addItem', field: 'roles', value: 'admin' }] });
  assert.equal(await statusFor(basic('plain', PASSWORD)), 200);
});

test('a password is compared by its prefix', async () => {
  const salt = randomBytes(16);
  const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  const hash = scryptSync('right', salt, 32, { N: 1024, r: 8, p: 1 });
  const phc = `$scrypt$ln=10,r=8,p=1$${unpadded(salt)}$${unpadded(hash)}`;
  await create({ name: 'hashed', secrets: [phc], roles: ['admin'] });
  const outcomes = [await statusFor(basic('hashed', 'right')), await statusFor(basic('hashed', phc))];
  assert.deepEqual(outcomes, [200, 401], 'the hash is no password');
  for (const [index, stored] of ['$weird$x', '_x', '{X}x', '$scrypt$ln=40,r=8,p=1$AAAA$AAAA'].entries()) {
    await create({ name: `locked-${index}`, secrets: [stored], roles: ['admin'] });
    const { status, headers } = await call('GET', PATH, { as: basic(`locked-${index}`, stored) });
    assert.deepEqual([status, headers.has('www-authenticate')], [401, true], stored);
  }
});

test('with a second factor the code follows the password, and its absence is 402', async () => {
  const key = Buffer.from('12345678901234567890');
  // The same twenty bytes in base32.
  await create({
    name: 'careful',
    secrets: [PASSWORD, 'otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', '$app$phone$device'],
    roles: ['admin'],
  });
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(clock.nowMs / 30_000)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const part = digest.readUInt32BE((digest[19] ?? 0) & 15) & 0x7fffffff;
  const code = String(part % 1_000_000).padStart(6, '0');
  const without = await call('GET', PATH, { as: basic('careful', PASSWORD) });
  assert.deepEqual([without.status, without.body.title], [402, 'TOTP code required']);
  assert.equal(await statusFor(basic('careful', `${PASSWORD}$${code}`)), 200);
  assert.equal(await statusFor(basic('careful', `${PASSWORD}$${code === '000000' ? '000001' : '000000'}`)), 401);
  assert.equal(await statusFor(basic('careful', `wrong$${code}`)), 401);
  assert.equal(await statusFor(basic('careful', 'device')), 200, 'an app password needs no code');
});

test('an API key is a bearer token of its name and secret', async () => {
  await create({ type: 'apiKey', name: 'robot', secrets: [PASSWORD], roles: ['admin'] });
  const token = (secret: string) => `Bearer api_${Buffer.from(`robot:${secret}`).toString('base64')}`;
  assert.equal(await statusFor(token(PASSWORD)), 200);
  assert.equal(await statusFor(token('wrong')), 401);
  assert.equal(await statusFor(basic('robot', PASSWORD)), 401);
});

test('the same form takes the password of an account, in any case of the scheme and with more spaces, and its failures count', async (context) => {
  const server = await mailFor(context, { failuresMax: 4 });
  const pair = (word: string) => Buffer.from(`admin:${word}`).toString('base64');
  const status = async (as: string, path = PATH) => (await server.call('GET', path, { as })).status;
  for (const scheme of ['Bearer ', 'bearer ', 'BEARER   '])
    assert.equal(await status(`${scheme}api_${pair(PASSWORD)}`), 200, scheme);
  assert.equal(await status(`Bearer API_${pair(PASSWORD)}`), 401, 'only in lower case, so this is a token');
  assert.equal(await status('Bearer api_*'), 401);
  for (let count = 0; count < 9; count += 1)
    assert.equal(await status(`Bearer api_${pair('x')}`, '/jmap/session'), 401);
  const statuses = [];
  for (let count = 0; count < 5; count += 1) statuses.push(await status(`Bearer api_${pair(`wrong-${count}`)}`));
  assert.deepEqual(statuses, [401, 401, 401, 401, 429], 'a token, and anything under /jmap, counts as no failure');
});

test('more failures than allowed are one 429, and then connections are dropped, also after a restart', async (context) => {
  const directory = temporaryDirectory();
  const databasePath = join(directory, 'mail.db');
  const attempt = requestOf(`GET ${PATH}`, { Authorization: basic('admin', 'wrong') });
  const first = await mailFor(context, { databasePath, failuresMax: 3 });
  const connection = await openConnection(first.port);
  const statuses: (number | undefined)[] = [];
  for (let count = 0; count < 4; count += 1) {
    connection.send(attempt);
    statuses.push((await connection.answer())?.status);
  }
  assert.deepEqual(statuses, [401, 401, 401, 429]);
  connection.send(requestOf(`GET ${PATH}`, { Authorization: ADMINISTRATOR }));
  assert.equal((await connection.answer())?.status, 200, 'the connection that is there goes on');
  connection.destroy();
  await assert.rejects(first.call('GET', PATH));
  await first.mail.close();
  const second = await mailFor(context, { databasePath });
  await assert.rejects(second.call('GET', PATH));
});

test('the default allows a hundred failures', async (context) => {
  const server = await mailFor(context);
  const connection = await openConnection(server.port);
  for (let count = 1; count <= 101; count += 1) {
    connection.send(requestOf(`GET ${PATH}`, { Authorization: basic(`name-${count}`, 'wrong') }));
    assert.equal((await connection.answer())?.status, count <= 100 ? 401 : 429);
  }
  connection.destroy();
  await assert.rejects(server.call('GET', PATH));
});

test('a day later the count begins anew, and success or a malformed credential never counts', async (context) => {
  const server = await mailFor(context, { failuresMax: 2 });
  const statusFor = async (as: string) => (await server.call('GET', PATH, { as })).status;
  for (let count = 0; count < 5; count += 1) await statusFor('Basic *');
  for (let count = 0; count < 5; count += 1) await statusFor(ADMINISTRATOR);
  assert.deepEqual([await statusFor(basic('admin', 'x')), await statusFor(basic('admin', 'x'))], [401, 401]);
  server.clock.nowMs += 86_400_000;
  assert.deepEqual([await statusFor(basic('admin', 'x')), await statusFor(basic('admin', 'x'))], [401, 401]);
  assert.equal(await statusFor(basic('admin', 'x')), 429);
});

test('forwarded addresses count where they are trusted, the left-most, and a banned one gets 403', async (context) => {
  const server = await mailFor(context, { useForwarded: true, failuresMax: 1 });
  let names = 0;
  const from = async (headers: Record<string, string>, as = basic(`name-${names++}`, 'x')) => {
    const { status, body } = await server.call('GET', PATH, { as, headers });
    return [status, body.detail];
  };
  const victim = { 'x-forwarded-for': '192.0.2.1, 192.0.2.9' };
  assert.equal((await from(victim))[0], 401);
  assert.equal((await from({ forwarded: 'for="192.0.2.1:80"', 'x-forwarded-for': '192.0.2.2' }))[0], 429);
  assert.deepEqual(await from(victim, ADMINISTRATOR), [403, 'Forbidden']);
  assert.equal((await from({ 'x-forwarded-for': '192.0.2.9' }, ADMINISTRATOR))[0], 200);
  assert.equal((await from({ forwarded: 'for=_hidden', 'x-forwarded-for': 'nonsense' }, ADMINISTRATOR))[0], 200);
});

test('forwarded addresses mean nothing where they are not trusted', async (context) => {
  const server = await mailFor(context, { failuresMax: 1 });
  const connection = await openConnection(server.port);
  for (const [address, status] of [
    ['192.0.2.1', 401],
    ['192.0.2.2', 429],
  ] as const) {
    connection.send(requestOf(`GET ${PATH}`, { Authorization: basic('admin', 'x'), 'X-Forwarded-For': address }));
    assert.equal((await connection.answer())?.status, status);
  }
  connection.destroy();
  await assert.rejects(server.call('GET', PATH));
});
