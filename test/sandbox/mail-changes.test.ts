// PATCH at the sandbox mail server: the actions, the values and the fields that go together, and the faults that are silently accepted.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { mailFor } from './support/mail.ts';

const { call, create, show } = await mailFor({ after });
await create({ type: 'domain', name: 'example.org' });
for (const name of ['staff', 'crew']) await create({ type: 'group', name });
for (const name of ['news', 'offers']) await create({ type: 'list', name });
await create({ type: 'role', name: 'boss' });
await create({ name: 'taken', emails: ['taken@example.org'] });

let number = 0;
/** A new individual with its PATCH. */
async function someone(content: object = {}) {
  number += 1;
  const name = `person-${number}`;
  await create({ name, ...content });
  return { name, patch: (...changes: readonly unknown[]) => patch(name, changes) };
}

async function patch(name: string, changes: unknown) {
  const { status, body } = await call('PATCH', `/api/principal/${name}`, { body: changes });
  return { status, body };
}

const set = (field: string, value: unknown) => ({ action: 'set', field, value });
const add = (field: string, value: unknown) => ({ action: 'addItem', field, value });
const remove = (field: string, value: unknown) => ({ action: 'removeItem', field, value });
const done = { status: 200, body: { data: null } };

test('no change at all succeeds', async () => {
  const { patch } = await someone();
  assert.deepEqual(await patch(), done);
});

test('texts are set, and the empty text clears them', async () => {
  const { name, patch } = await someone();
  assert.deepEqual(await patch(set('description', 'D'), set('picture', 'P'), set('locale', 'de')), done);
  const { description, picture, locale } = await show(name);
  assert.deepEqual([description, picture, locale], ['D', 'P', 'de']);
  await patch(set('description', ''));
  assert.equal((await show(name)).description, undefined);
});

test('a new name is lower-cased, keeps number and relations, and ends the old path at once', async () => {
  const { name, patch } = await someone({ memberOf: ['crew'] });
  const { id } = await show(name);
  assert.deepEqual(await patch(set('name', 'Renamed')), done);
  assert.equal(await show(name), undefined);
  assert.deepEqual([(await show('renamed')).id, (await show('renamed')).memberOf], [id, ['crew']]);
  const other = await someone();
  assert.deepEqual((await other.patch(set('name', 'RENAMED'))).body, {
    error: 'fieldAlreadyExists',
    field: 'name',
    value: 'renamed',
  });
});

test('a quota is set and cleared, and a list of amounts is for tenants', async () => {
  const { name, patch } = await someone();
  await patch(set('quota', 7));
  assert.equal((await show(name)).quota, 7);
  await patch(set('quota', ''));
  assert.equal((await show(name)).quota, undefined);
  assert.equal((await patch(set('quota', [1, 2]))).body.details, 'Invalid parameter');
  assert.equal((await patch(set('quota', 'x'))).body.details, 'Invalid parameter');
  await create({ type: 'list', name: 'no-quota' });
  const { body } = await call('PATCH', '/api/principal/no-quota', { body: [set('quota', 7)] });
  assert.equal(body.details, 'Invalid parameter');
});

test('addresses are lower-cased; the primary is the first, and the next follows it', async () => {
  const { name, patch } = await someone();
  await patch(set('emails', ['One@example.org', 'two@example.org']), add('emails', 'THREE@example.org'));
  await patch(
    add('emails', 'two@example.org'),
    remove('emails', 'one@example.org'),
    remove('emails', 'no@example.org'),
  );
  assert.deepEqual((await show(name)).emails, ['two@example.org', 'three@example.org']);
  const refused = async (email: string) => (await patch(add('emails', email))).body;
  assert.deepEqual(await refused('taken@example.org'), {
    error: 'fieldAlreadyExists',
    field: 'emails',
    value: 'taken@example.org',
  });
  assert.deepEqual(await refused('x@absent.org'), { error: 'notFound', item: 'absent.org' });
  assert.equal((await refused('nothing')).details, 'Invalid email');
});

test('adding a password replaces the password alone, setting replaces everything', async () => {
  const factors = ['$app$phone$hash', 'otpauth://totp/x'];
  const { name, patch } = await someone({ secrets: ['old', ...factors] });
  const secrets = async () => ((await show(name)).secrets ?? []).toSorted();
  await patch(add('secrets', 'new'));
  assert.deepEqual(await secrets(), [...factors, 'new'].toSorted());
  await patch(add('secrets', '$app$desk$hash'), remove('secrets', '$app$phone$'));
  assert.deepEqual(await secrets(), ['$app$desk$hash', 'new', 'otpauth://totp/x']);
  await patch(remove('secrets', ''));
  assert.deepEqual(await secrets(), ['new']);
  await patch(set('secrets', 'only'));
  assert.deepEqual(await secrets(), ['only']);
  await patch(set('secrets', ['first', 'second', ...factors]));
  assert.deepEqual(await secrets(), [...factors, 'first'].toSorted());
  await patch(remove('secrets', 'first'));
  assert.deepEqual(await secrets(), factors.toSorted());
});

test('relations are set, added and removed, seen from either side', async () => {
  const { name, patch } = await someone();
  await patch(set('roles', ['user', 'boss']), add('roles', 'admin'), remove('roles', 'user'));
  await patch(add('memberOf', 'staff'), add('memberOf', 'crew'), add('lists', 'news'), add('lists', 'offers'));
  const { memberOf, lists, roles } = await show(name);
  assert.deepEqual(
    [memberOf, lists, roles],
    [
      ['staff', 'crew'],
      ['news', 'offers'],
      ['boss', 'admin'],
    ],
  );
  assert.ok((await show('staff')).members.includes(name));
  assert.deepEqual((await show('offers')).members, [name]);
  await call('PATCH', '/api/principal/staff', { body: [remove('members', name), remove('members', 'nobody')] });
  assert.deepEqual((await show(name)).memberOf, ['crew']);
});

test('a set of roles, groups or lists empties the other two; a set of members does not', async () => {
  const all = { roles: ['user', 'boss'], memberOf: ['crew'], lists: ['news'] };
  const left = async (...changes: readonly unknown[]) => {
    const { name, patch } = await someone(all);
    assert.deepEqual(await patch(...changes), done);
    const { roles, memberOf, lists } = await show(name);
    return { roles, memberOf, lists };
  };
  const none = { roles: undefined, memberOf: undefined, lists: undefined };
  assert.deepEqual(await left(set('roles', ['user'])), { ...none, roles: ['user'] });
  assert.deepEqual(await left(set('memberOf', ['staff', 'crew'])), { ...none, memberOf: ['staff', 'crew'] });
  assert.deepEqual(await left(set('lists', [])), none);
  assert.deepEqual(await left(set('roles', ['user']), set('lists', ['news'])), { ...none, lists: ['news'] });
  assert.deepEqual(await left(set('lists', []), add('roles', 'user')), { ...none, roles: ['user'] });

  await create({ type: 'group', name: 'both', memberOf: ['staff'], members: ['crew'] });
  await patch('both', [set('members', [])]);
  assert.deepEqual((await show('both')).memberOf, ['staff']);
});

test('members are set on a group, of the kinds it may have', async () => {
  const { name } = await someone();
  await create({ type: 'group', name: 'team' });
  assert.deepEqual(await patch('team', [set('members', [name, 'crew'])]), done);
  assert.deepEqual((await show('team')).members, ['crew', name]);
  assert.deepEqual((await patch('team', [set('members', ['news'])])).body.details, 'Invalid members value');
  assert.deepEqual((await patch('team', [add('members', 'who')])).body, { error: 'notFound', item: 'who' });
  assert.deepEqual((await show('team')).members, ['crew', name], 'nothing was written');
  assert.equal((await patch(name, [add('members', 'crew')])).body.details, 'Invalid members value');
});

test('a relation to the wrong kind is "other", to an unknown name notFound, on a type without it "other"', async () => {
  const { patch: change } = await someone();
  assert.equal((await change(add('memberOf', 'news'))).body.details, 'Invalid memberOf value');
  assert.equal((await change(add('lists', 'staff'))).body.details, 'Invalid lists value');
  assert.equal((await change(add('roles', 'staff'))).body.details, 'Invalid roles value');
  assert.deepEqual((await change(add('memberOf', 'nobody'))).body, { error: 'notFound', item: 'nobody' });
  assert.deepEqual(await change(remove('memberOf', 'nobody')), done);
  assert.equal((await patch('staff', [add('roles', 'user')])).body.details, 'Invalid roles value');
});

test('permissions have to exist; addresses of strangers only have to look like addresses', async () => {
  const { name, patch } = await someone();
  await patch(set('enabledPermissions', ['email-send']), add('disabledPermissions', 'email-receive'));
  await patch(add('externalMembers', 'x@other.org'), add('urls', 'https://a.example'));
  const { enabledPermissions, disabledPermissions, externalMembers, urls } = await show(name);
  assert.deepEqual(
    [enabledPermissions, disabledPermissions, externalMembers, urls],
    [['email-send'], ['email-receive'], ['x@other.org'], ['https://a.example']],
  );
  assert.equal((await patch(add('enabledPermissions', 'fly'))).body.details, 'Invalid enabledPermissions value');
  assert.equal((await patch(add('disabledPermissions', 'fly'))).body.details, 'Invalid disabledPermissions value');
  assert.equal((await patch(add('externalMembers', 'x'))).body.details, 'Invalid email address');
});

test('the first bad change undoes those before it', async () => {
  const { name, patch } = await someone({ description: 'before' });
  const { body } = await patch(set('description', 'after'), add('lists', 'news'), add('lists', 'none'));
  assert.deepEqual(body, { error: 'notFound', item: 'none' });
  const { description, lists } = await show(name);
  assert.deepEqual([description, lists], ['before', undefined]);
});

const unsupported: readonly (readonly [change: object, echoed: string])[] = [
  [set('type', 'group'), 'String("group")'],
  [set('usedQuota', 5), 'Integer(5)'],
  [add('description', 'x'), 'String("x")'],
  [set('description', ['x', 'y']), 'StringList(["x","y"])'],
  [set('emails', 'x@example.org'), 'String("x@example.org")'],
  [add('emails', ['x@example.org']), 'StringList(["x@example.org"])'],
  [set('emails', [1, 2]), 'IntegerList([1,2])'],
  [add('quota', 5), 'Integer(5)'],
  [add('secrets', ['hush']), 'StringList(["hush"])'],
];

for (const [change, echoed] of unsupported) {
  test(`${JSON.stringify(change)} is "other", and the value comes back`, async () => {
    const { patch } = await someone();
    const { status, body } = await patch(change);
    assert.deepEqual([status, body.error, body.details], [200, 'other', 'Invalid parameter']);
    assert.ok(body.reason.includes(echoed), body.reason);
  });
}

test('a tenant is set nowhere without a licence', async () => {
  const { patch } = await someone();
  assert.deepEqual((await patch(set('tenant', 'acme'))).body, { error: 'unsupported', details: 'Enterprise feature' });
});

const unreadable: readonly unknown[] = [
  {},
  'text',
  [1],
  [{ field: 'name', value: 'x' }],
  [{ action: 'set', value: 'x' }],
  [{ action: 'set', field: 'name' }],
  [{ action: 'replace', field: 'name', value: 'x' }],
  [set('colour', 'x')],
  ...[null, true, {}, -1, 1.5, ['x', 1], [null], 'x'.repeat(513)].map((value) => [set('description', value)]),
];

for (const [index, body] of unreadable.entries()) {
  test(`body ${index} of those that no PATCH can have is 400`, async () => {
    const { name } = await someone();
    const reply = await patch(name, body);
    assert.deepEqual([reply.status, reply.body.detail], [400, 'JSON deserialization failed']);
  });
}

test('a principal that is missing is notFound for any body', async () => {
  for (const body of ['no JSON', []])
    assert.deepEqual((await patch('nobody', body)).body, { error: 'notFound', item: 'nobody' });
});

test('a principal cannot grow beyond 100,000 bytes', async () => {
  const { name, patch } = await someone();
  const urls = Array.from({ length: 250 }, (_, index) => `${index}${'u'.repeat(500)}`);
  assert.equal((await patch(set('urls', urls))).body.details, 'Invalid parameter');
  assert.equal((await show(name)).urls, undefined);
});
