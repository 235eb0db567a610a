import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseApiKey } from '../../../gateway/auth/api-key.ts';
import { digestOf } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';

const CREATE = ['keys', 'create', '--org', 'org_acme', '--mode', 'live', '--scopes', '*'];

async function withOrganization(...flags: string[]) {
  const line = commandLine();
  await line.run('orgs', 'create', '--id', 'org_acme', '--name', 'Acme', '--tier', 'premium', ...flags);
  return line;
}

test('keys create --json prints the key, and the store has only its digest', async () => {
  const { json, openStore } = await withOrganization();
  const created = await json(...CREATE, '--name', 'billing', '--allow', '192.0.2.0/24,2001:db8::1', '--expires', '24h');
  const { id, key, ...rest } = created;
  assert.deepEqual(Object.keys(created).slice(0, 2), ['id', 'key']);
  assert.match(id, /^key_[0-9A-Za-z]{20}$/);
  assert.equal(parseApiKey(key), 'live');
  assert.deepEqual(rest, {
    organization: 'org_acme',
    mode: 'live',
    name: 'billing',
    state: 'active',
    scopes: ['*'],
    allowed_cidrs: ['192.0.2.0/24', '2001:db8::1'],
    prefix: key.slice(0, 12),
    last_four: key.slice(-4),
    created_at: '2026-11-20T12:00:00.000Z',
    created_by: 'tests',
    expires_at: '2026-11-21T12:00:00.000Z',
    revoked_at: null,
    revoked_by: null,
    revoked_reason: null,
    last_used_at: null,
    replaced_by: null,
  });
  const found = await openStore().keys.findByDigest(digestOf(key));
  assert.equal(found?.key.id, id);
});

test('keys create for people shows the key once and states that', async () => {
  const { run } = await withOrganization();
  const [key = '', , notice, , heads, row, end] = (await run(...CREATE)).out.split('\n');
  assert.equal(parseApiKey(key), 'live');
  assert.match(notice ?? '', /only time the key is shown/);
  assert.match(heads ?? '', /^ID +ORGANIZATION +MODE +KEY/);
  assert.ok(row?.includes('org_acme') && !row.includes(key));
  assert.equal(end, '');
  assert.ok(!(await run('keys', 'list')).out.includes(key.slice(12, -4)));
});

test('scopes may be given as words, with commas, and twice', async () => {
  const { json } = await withOrganization();
  const words = ['keys', 'create', '--org', 'org_acme', '--mode', 'test', '--scopes'];
  const both = ['customers:read', 'customers:write'];
  assert.deepEqual((await json(...words, ...both)).scopes, both);
  assert.deepEqual((await json(...words, both.join(','))).scopes, both);
  assert.deepEqual((await json(...words, both.join(', '), 'customers:read')).scopes, both);
});

for (const [expires, expected] of [
  ['90s', '2026-11-20T12:01:30.000Z'],
  ['15m', '2026-11-20T12:15:00.000Z'],
  ['30d', '2026-12-20T12:00:00.000Z'],
  ['2027-01-01', '2027-01-01T00:00:00.000Z'],
  ['2027-01-01T08:00:00+02:00', '2027-01-01T06:00:00.000Z'],
] as const) {
  test(`--expires ${expires} is ${expected}`, async () => {
    const { json } = await withOrganization();
    assert.equal((await json(...CREATE, '--expires', expires)).expires_at, expected);
  });
}

test('keys list shows state and last use, of all or of one organization', async () => {
  const { run, json, openStore, clock } = await withOrganization();
  await run('orgs', 'create', '--id', 'org_b', '--name', 'B', '--tier', 'standard');
  const expiring = await json(...CREATE, '--expires', '90s');
  const revoked = await json(...CREATE);
  const other = await json('keys', 'create', '--org', 'org_b', '--mode', 'test', '--scopes', 'customers:read');
  await run('keys', 'revoke', revoked.id);
  await openStore().keys.noteUses(new Map([[other.id, clock.nowMs]]));
  clock.nowMs += 90_000;
  const states = (await json('keys', 'list')).map(({ id, state }: Record<string, string>) => [id, state]);
  assert.deepEqual(states, [
    [expiring.id, 'expired'],
    [revoked.id, 'revoked'],
    [other.id, 'active'],
  ]);
  const [only, ...none] = await json('keys', 'list', '--org', 'org_b');
  assert.deepEqual([only.id, only.last_used_at, none], [other.id, '2026-11-20T12:00:00.000Z', []]);
  assert.ok(!('key' in only) && !('digest' in only));
});

test('keys list finds a key by its copied visible end in one step', async () => {
  const { run, json } = await withOrganization();
  const keys = [await json(...CREATE), await json(...CREATE), await json(...CREATE)];
  const { id, key, last_four: end } = keys[1];
  for (const copied of [end, `…${end}`, `${key.slice(0, 12)}…${end}`, key]) {
    const found = await json('keys', 'list', '--last-four', copied);
    assert.deepEqual(
      found.map((one: { id: string }) => one.id),
      keys.filter((one) => one.last_four === end).map((one) => one.id),
    );
  }
  assert.ok((await run('keys', 'list', '--last-four', end)).out.includes(id));
  assert.deepEqual(
    await json('keys', 'list', '--last-four', end.toLowerCase() === end ? 'AAAA' : end.toLowerCase()),
    [],
  );
  const wrong = await run('keys', 'list', '--last-four', 'a-b');
  assert.deepEqual([wrong.code, wrong.err], [2, '--last-four "a-b" does not end with four letters or digits.']);
});

test('keys list shows one line of plain text per key, for any imported name', async () => {
  const { run, json, openStore } = await withOrganization();
  const { id } = await json(...CREATE);
  const store = openStore();
  const [key] = await store.keys.list();
  assert.ok(key);
  await store.keys.create({
    ...key,
    id: 'key_odd',
    digest: `${key.digest.slice(0, -1)}_`,
    name: 'red \u001b[31m\nline',
  });
  const { out } = await run('keys', 'list');
  assert.equal(out.split('\n').length, 4, out);
  assert.match(out, /red \\u001b\[31m\\u000aline/);
  assert.ok(out.includes(String(id)));
});

test('keys revoke names the time of the revocation, also the second time', async () => {
  const { run, json, clock } = await withOrganization();
  const { id } = await json(...CREATE);
  const revoked = await json('keys', 'revoke', id, '--reason', 'leaked');
  assert.deepEqual([revoked.state, revoked.revoked_by, revoked.revoked_reason], ['revoked', 'tests', 'leaked']);
  clock.nowMs += 60_000;
  const again = await run('keys', 'revoke', id);
  assert.deepEqual([again.code, again.out], [0, `The key ${id} is revoked since 2026-11-20T12:00:00Z.\n`]);
});

test('operator scopes are granted to operator organizations, and * does not stand in their way', async () => {
  const { json } = await withOrganization('--operator');
  const { scopes } = await json('keys', 'create', '--org', 'org_acme', '--mode', 'live', '--scopes', '*', 'mail:read');
  assert.deepEqual(scopes, ['*', 'mail:read']);
});

const base = ['keys', 'create', '--org', 'org_acme', '--mode', 'live', '--scopes'];
for (const [words, code, message] of [
  [['keys', 'create', '--org', 'org_b', '--mode', 'live', '--scopes', '*'], 1, /^There is no organization org_b\.$/],
  [
    [...base, 'customer:read'],
    1,
    /no scope "customer:read"\. Did you mean "customers:read"\? Known: \*, customers:read/,
  ],
  [
    [...base, 'mail:read'],
    1,
    /^The scope mail:read is granted to operator organizations only, and org_acme is none\.$/,
  ],
  [[...base, ','], 2, /--scopes is empty/],
  [[...base, '*', '--name', 'two\nlines'], 2, /--name is not one line of up to 200 characters/],
  [[...base, '*', '--name', 'x'.repeat(201)], 2, /--name is not one line/],
  [[...base, '*', '--expires', 'soon'], 2, /--expires "soon" is neither/],
  [[...base, '*', '--expires', '2026-13-01'], 2, /--expires/],
  [[...base, '*', '--expires', '2020-01-01'], 2, /not in the future/],
  [[...base, '*', '--expires', '0s'], 2, /not in the future/],
  [[...base, '*', '--allow', '10.0.0.0/64'], 2, /--allow "10\.0\.0\.0\/64" is neither/],
  [['keys', 'create', '--org', 'org_acme', '--mode', 'prod', '--scopes', '*'], 2, /Allowed choices are live, test/],
  [['keys', 'create', '--org', 'org_acme', '--scopes', '*'], 2, /--mode/],
  [['keys', 'create', '--org', 'org_acme', '--mode', 'live'], 2, /--scopes/],
  [['keys', 'list', '--org', 'org_b'], 1, /no organization org_b/],
  [['keys', 'revoke', 'key_nobody'], 1, /^There is no key key_nobody\.$/],
] as const) {
  test(`"${words.slice(1).join(' ')}" ends with ${code} and makes no key`, async () => {
    const { run, openStore } = await withOrganization();
    const outcome = await run(...words);
    assert.equal(outcome.code, code);
    assert.match(outcome.err, message);
    assert.deepEqual(await openStore().keys.list(), []);
  });
}

test('keys scopes adds scopes to a key that its holder keeps, and takes them away', async () => {
  const { run, json, openStore } = await withOrganization();
  const words = ['keys', 'create', '--org', 'org_acme', '--mode', 'live', '--scopes', 'customers:read'];
  const { id, key } = await json(...words);
  const added = await json('keys', 'scopes', id, '--add', 'customers:write', 'customers:read');
  assert.deepEqual(added.scopes, ['customers:read', 'customers:write']);
  const found = await openStore().keys.findByDigest(digestOf(key));
  assert.deepEqual(found?.key.scopes, added.scopes);
  const removed = await run('keys', 'scopes', id, '--remove', 'customers:write');
  assert.deepEqual([removed.code, removed.out], [0, `The key ${id} has customers:read.\n`]);
  for (const [flags, expected] of [
    [['--remove', 'customers:read'], /would have no scope: revoke it instead/],
    [['--add', 'customer:read'], /customers:read/],
    [[], /Name scopes with --add or --remove/],
    [['--add', 'a', '--remove', 'a'], /is in --add and in --remove/],
  ] as const) {
    const { code, err } = await run('keys', 'scopes', id, ...flags);
    assert.notEqual(code, 0);
    assert.match(err, expected);
  }
  assert.match(
    (await run('keys', 'scopes', 'key_absent', '--add', 'customers:read')).err,
    /There is no key key_absent/,
  );
});
