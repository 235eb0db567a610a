// Principals of the sandbox mail server: the answers to creating, reading and deleting them, 200 for nearly everything.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openConnection, requestOf } from '../support/connection.ts';
import { ADMINISTRATOR, basic, mailFor, PASSWORD } from './support/mail.ts';

const server = await mailFor({ after });
const { call, create, show } = server;
await create({ type: 'domain', name: 'example.org' });

const post = async (body: unknown) => {
  const { status, headers, body: answer } = await call('POST', '/api/principal', { body });
  return { status, type: headers.get('content-type'), answer };
};

test('a create answers the number of the principal, and reading shows it whole, secrets as they were received', async () => {
  await create({ type: 'group', name: 'staff' });
  await create({ type: 'list', name: 'news' });
  const { answer, type } = await post({
    name: 'Alice',
    secrets: [PASSWORD, 'a second password', '$app$phone$hash', 'otpauth://totp/x'],
    emails: ['Alice@Example.org', 'al@example.org'],
    description: 'Alice A.',
    quota: 500,
    memberOf: 'staff',
    lists: ['news'],
    roles: ['user'],
    urls: [],
  });
  assert.equal(type, 'application/json; charset=utf-8');
  assert.deepEqual(await show('alice'), {
    id: answer.data,
    type: 'individual',
    name: 'alice',
    description: 'Alice A.',
    quota: 500,
    secrets: [PASSWORD, '$app$phone$hash', 'otpauth://totp/x'],
    emails: ['alice@example.org', 'al@example.org'],
    memberOf: ['staff'],
    lists: ['news'],
    roles: ['user'],
  });
  assert.deepEqual((await show('staff')).members, ['alice']);
  assert.equal((await show('example.org')).members, 2, 'a domain counts its addresses');
});

const unreadable: readonly (readonly [what: string, body: string])[] = [
  ['no JSON', '{"name":'],
  ['no body', ''],
  ['an array', '[]'],
  ['null', 'null'],
  ['an unknown member', '{"name":"x","colour":"red"}'],
  ['an unknown type', '{"name":"x","type":"person"}'],
  ['the type that exists in output only', '{"name":"x","type":"other"}'],
  ['a text over 512 bytes', JSON.stringify({ name: 'x', description: 'é'.repeat(257) })],
  ['a text of another kind', '{"name":"x","description":1}'],
  ['a name of null', '{"name":null}'],
  ['a quota of null', '{"name":"x","quota":null}'],
  ['a negative quota', '{"name":"x","quota":-1}'],
  ['a fractional quota', '{"name":"x","quota":1.5}'],
  ['an escape in the name of a member', '{"n\\u0061me":"x"}'],
  ['an escape in the type', '{"name":"x","type":"gr\\u006fup"}'],
];

for (const [what, body] of unreadable) {
  test(`${what} is 400 without a reason, and nothing is created`, async () => {
    const { status, type, answer } = await post(body);
    assert.deepEqual([status, type], [400, 'application/problem+json']);
    assert.deepEqual(answer, {
      type: 'about:blank',
      status: 400,
      title: 'Invalid parameters',
      detail: 'JSON deserialization failed',
    });
    assert.equal(await show('x'), undefined);
  });
}

test('a wrong item of a list is silently dropped, and an escape in a value is not one', async () => {
  await create({ name: 'lenient', urls: ['a', 1, null, 'x'.repeat(513), 'b'], externalMembers: 7, picture: null });
  const { externalMembers, urls } = await show('lenient');
  assert.deepEqual({ externalMembers, urls }, { externalMembers: undefined, urls: ['a', 'b'] });
  await call('POST', '/api/principal', { body: '{"name":"esc\\u0061ped","id":9,"usedQuota":3}' });
  assert.equal((await show('escaped')).usedQuota, undefined);
});

const failures: readonly (readonly [what: string, body: object, answer: object])[] = [
  ['a missing name', { type: 'list' }, { error: 'fieldMissing', field: 'name' }],
  ['an empty name', { name: '' }, { error: 'fieldMissing', field: 'name' }],
  ['a name in use', { name: 'ALICE' }, { error: 'fieldAlreadyExists', field: 'name', value: 'alice' }],
  [
    'a name of another type',
    { type: 'group', name: 'news' },
    { error: 'fieldAlreadyExists', field: 'name', value: 'news' },
  ],
  ['a group that is missing', { name: 'y', memberOf: 'nobody' }, { error: 'notFound', item: 'nobody' }],
  ['a group that is a list', { name: 'y', memberOf: ['news'] }, { error: 'notFound', item: 'news' }],
  ['a list that is missing', { name: 'y', lists: ['none'] }, { error: 'notFound', item: 'none' }],
  ['a role that is missing', { name: 'y', roles: ['boss'] }, { error: 'notFound', item: 'boss' }],
  ['a member that is missing', { type: 'group', name: 'y', members: ['who'] }, { error: 'notFound', item: 'who' }],
  ['a domain that is missing', { name: 'y', emails: 'y@other.org' }, { error: 'notFound', item: 'other.org' }],
  [
    'an address in use',
    { name: 'y', emails: 'AL@example.org' },
    { error: 'fieldAlreadyExists', field: 'emails', value: 'al@example.org' },
  ],
  ['a tenant', { type: 'tenant', name: 'y' }, { error: 'unsupported', details: 'Enterprise feature' }],
  ['a principal in a tenant', { name: 'y', tenant: 'acme' }, { error: 'unsupported', details: 'Enterprise feature' }],
];

for (const [what, body, answer] of failures) {
  test(`${what} is 200 with an error, and nothing is created`, async () => {
    const reply = await post(body);
    assert.deepEqual([reply.status, reply.answer], [200, answer]);
    assert.equal(await show('y'), undefined);
  });
}

test('failures of the kind "other" have details and a reason that repeats the input', async () => {
  const cases: readonly [object, string, RegExp][] = [
    [{ name: 'y', enabledPermissions: ['fly'] }, 'Invalid enabledPermissions value', /fly/],
    [{ name: 'y', disabledPermissions: ['fly'] }, 'Invalid disabledPermissions value', /fly/],
    [{ name: 'y', emails: 'no-address' }, 'Invalid email', /no-address/],
    [
      { name: 'y', urls: Array.from({ length: 300 }, (_, index) => `${index}${'z'.repeat(400)}`) },
      'Invalid parameter',
      /\d{6}/,
    ],
  ];
  for (const [body, details, reason] of cases) {
    const { status, answer } = await post(body);
    assert.deepEqual([status, answer.error, answer.details], [200, 'other', details]);
    assert.match(answer.reason, reason);
  }
});

test('an OAuth client loses its addresses, for any domain', async () => {
  await create({ type: 'oauthClient', name: 'app', emails: ['app@nowhere.org'] });
  assert.equal((await show('app')).emails, undefined);
});

test('a quota of the tenant that is used up is a 403 that names it', async (context) => {
  const small = await mailFor(context, { principalsMax: 1 });
  await small.create({ name: 'one' });
  const { status, body } = await small.call('POST', '/api/principal', { body: { name: 'two' } });
  assert.deepEqual([status, body.title], [403, 'Tenant quota exceeded']);
});

test('POST …/deploy creates too', async () => {
  const { body } = await call('POST', '/api/principal/deploy', { body: { name: 'deployed' } });
  assert.equal((await show('deployed')).id, body.data);
});

test('a name is looked up as it is sent, decoded, and never by number; the path after it is ignored', async () => {
  await create({ name: 'a b/c' });
  const { id } = await show('a b/c');
  const get = async (name: string) => (await call('GET', `/api/principal/${name}`)).body;
  assert.deepEqual(await get('A%20B%2Fc'), { error: 'notFound', item: 'A B/c' });
  assert.deepEqual(await get(String(id)), { error: 'notFound', item: String(id) });
  assert.deepEqual(await get(''), { error: 'notFound', item: '' });
  assert.deepEqual(await get('admin'), { error: 'notFound', item: 'admin' }, 'the administrator is no principal');
  assert.deepEqual(await get('%FF'), { error: 'notFound', item: '%FF' });
  assert.equal((await get('a%20b%2Fc/anything')).data.id, id);
});

test('DELETE is null once and notFound after, and takes relations and addresses with it', async () => {
  await create({ type: 'group', name: 'brief', emails: ['brief@example.org'] });
  await create({ name: 'guest', memberOf: ['brief'] });
  const remove = async () => (await call('DELETE', '/api/principal/brief')).body;
  assert.deepEqual([await remove(), await remove()], [{ data: null }, { error: 'notFound', item: 'brief' }]);
  assert.equal((await show('guest')).memberOf, undefined);
  await create({ name: 'heir', emails: ['brief@example.org'] });
});

test('a domain is deleted although addresses still use it', async () => {
  await create({ type: 'domain', name: 'gone.org' });
  await create({ name: 'left', emails: ['left@gone.org'] });
  assert.deepEqual((await call('DELETE', '/api/principal/gone.org')).body, { data: null });
  assert.deepEqual((await show('left')).emails, ['left@gone.org']);
});

test('the bulk DELETE erases every match behind the caller, and returns only whether there was one', async (context) => {
  const doomed = await mailFor(context);
  for (const name of ['r1', 'r2']) await doomed.create({ type: 'resource', name, description: `room ${name}` });
  await doomed.create({ name: 'person' });
  const bulk = (query: string) => doomed.call('DELETE', `/api/principal?${query}`);
  for (const query of ['', 'type=resource', 'confirm=true', 'type=people&confirm=true', 'type=resource&confirm=yes']) {
    const { status, body } = await bulk(query);
    assert.deepEqual([status, body.title], [400, 'Invalid parameters'], query);
  }
  assert.deepEqual((await bulk('type=resource&confirm=true&filter=r2')).body, { data: true });
  const names = async () => {
    const { items } = (await doomed.call('GET', '/api/principal?fields=name')).body.data;
    return items.map(({ name }: { name: string }) => name);
  };
  while ((await names()).length === 3);
  assert.deepEqual(await names(), ['person', 'r1']);
  assert.deepEqual((await bulk('type=list&confirm=true')).body, { data: false });
});

test('methods that nothing has are 404 or notFound, never 405', async () => {
  for (const [method, path] of [
    ['PUT', '/api/principal'],
    ['PATCH', '/api/principal'],
    ['HEAD', '/api/principal'],
    ['PUT', '/api/principal/alice'],
    ['POST', '/api/principal/alice'],
    ['HEAD', '/api/principal/alice'],
    ['GET', '/api/other'],
    ['GET', '/api'],
    ['GET', '/api/queue/messages'],
  ] as const) {
    assert.equal((await call(method, path)).status, 404, `${method} ${path}`);
  }
  for (const method of ['PUT', 'POST']) {
    const { status, body } = await call(method, '/api/principal/nobody');
    assert.deepEqual([status, body], [200, { error: 'notFound', item: 'nobody' }]);
  }
});

test('OPTIONS is 204 without authentication and announces a body that never comes', async (context) => {
  const connection = await openConnection(server.port);
  context.after(() => connection.destroy());
  connection.send(requestOf('OPTIONS /api/principal/alice'));
  const answer = await connection.answer();
  assert.equal(answer?.status, 204);
  assert.ok(Number(answer?.headers['content-length']) > 0);
  connection.send(requestOf('GET /api/other', { Authorization: ADMINISTRATOR }));
  assert.equal((await connection.answer())?.status, 404, 'nothing lies in between');
});

test('calls that change a server although they are a GET exist, and are reported', async (context) => {
  const sideEffects: string[] = [];
  const watched = await mailFor(context, { onSideEffect: (path) => sideEffects.push(path) });
  const paths = ['/api/reload', '/api/reload/lookup', '/api/update/webadmin', '/api/spam-filter/train/start'];
  for (const path of paths) {
    const { body } = await watched.call('GET', path);
    assert.deepEqual(body, { data: path === '/api/reload' ? { errors: {}, warnings: {} } : null });
  }
  await watched.call('GET', '/api/reload?dry-run=true');
  assert.equal((await watched.call('POST', '/api/reload')).status, 404);
  assert.equal((await watched.call('GET', '/api/reload', { as: null })).status, 401);
  assert.equal((await watched.call('GET', '/api/restart')).body.error, 'unsupported');
  assert.deepEqual(sideEffects, paths);
});

test('settings are shown by name and by prefix, and a reload tells its errors', async (context) => {
  const settings = { 'server.allowed-ip.192.0.2.1': '', 'server.allowed-ips': 'x', 'http.url': "'https://a.example'" };
  const errors = { 'store.x': 'No such store' };
  const shown = await mailFor(context, { settings, settingErrors: errors, useForwarded: true });
  const path = '/api/settings/keys?keys=http.use-x-forwarded,none&prefixes=server.allowed-ip';
  const { body } = await shown.call('GET', path);
  assert.deepEqual(body, { data: { 'http.use-x-forwarded': 'true', 'server.allowed-ip.192.0.2.1': '' } });
  assert.deepEqual((await shown.call('GET', '/api/reload')).body, { data: { errors, warnings: {} } });
  assert.equal((await shown.call('GET', path, { as: null })).status, 401);
});

test('an account has the permissions that its roles add up to, less those disabled', async () => {
  const secret = `${PASSWORD}x`;
  await create({
    type: 'role',
    name: 'reader',
    enabledPermissions: ['authenticate', 'individual-get', 'individual-list', 'individual-create', 'individual-delete'],
  });
  await create({ type: 'role', name: 'outer', roles: ['reader'], disabledPermissions: ['individual-delete'] });
  await create({ name: 'clerk', secrets: [secret], roles: ['outer'] });
  const as = basic('clerk', secret);
  const statusOf = async (method: string, path: string, body?: unknown) =>
    (await call(method, `/api/principal${path}`, { as, ...(body ? { body } : {}) })).status;
  assert.equal(await statusOf('GET', '/alice'), 200);
  assert.equal(await statusOf('GET', '?types=individual'), 200);
  assert.equal(await statusOf('GET', ''), 403, 'without types every list permission is needed');
  assert.equal(await statusOf('DELETE', '/alice'), 403);
  assert.equal(await statusOf('PATCH', '/alice', 'no JSON'), 403, 'checked before the body is read');
  assert.equal(await statusOf('POST', '', { type: 'list', name: 'z' }), 403);
  assert.equal(await statusOf('DELETE', '?type=individual&confirm=true'), 403);
  const grant = async (body: object) => (await call('POST', '/api/principal', { as, body })).body.details;
  assert.equal(await grant({ name: 'z', roles: ['admin'] }), 'Invalid role');
  assert.equal(await grant({ name: 'z', enabledPermissions: ['list-create'] }), 'Invalid enabledPermissions value');
  assert.equal(await grant({ name: 'z', enabledPermissions: ['group-create'] }), 'Invalid permission');
});
