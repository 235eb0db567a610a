import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseApiKey } from '../../../gateway/auth/api-key.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { digestOf, until } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';
import { gatewayOn } from './gateway-on.ts';

const CREATE = ['keys', 'create', '--org', 'org_acme', '--mode', 'live', '--scopes', '*'];
const started = closesAfterEach();

async function withKey(...flags: string[]) {
  const line = commandLine();
  await line.run('orgs', 'create', '--id', 'org_acme', '--name', 'Acme', '--tier', 'premium');
  return { ...line, created: await line.json(...CREATE, ...flags) };
}

test('keys rotate --json makes a key with the same rights, and the old key works for a day', async () => {
  const { json, openStore, clock, created } = await withKey('--name', 'billing', '--allow', '192.0.2.0/24');
  clock.nowMs += 60_000;
  const { key, previous, ...successor } = await json('keys', 'rotate', created.id);
  assert.equal(parseApiKey(key), 'live');
  assert.equal((await openStore().keys.findByDigest(digestOf(key)))?.key.id, successor.id);
  assert.notEqual(successor.id, created.id);
  assert.equal(successor.replaces, created.id);
  for (const member of ['organization', 'mode', 'name', 'scopes', 'allowed_cidrs', 'expires_at', 'state']) {
    assert.deepEqual(successor[member], created[member], member);
  }
  assert.equal(successor.created_at, '2026-11-20T12:01:00.000Z');
  const { key: _, ...before } = created;
  const changed = { expires_at: '2026-11-21T12:01:00.000Z', replaced_by: successor.id, state: 'rotating' };
  assert.deepEqual(previous, { ...before, ...changed });
});

test('keys rotate for people shows the new key once, both keys, and until when the old one works', async () => {
  const { run, created } = await withKey();
  const { out } = await run('keys', 'rotate', created.id, '--overlap', '15m');
  const [key = '', , notice, , heads, old, successor, , end] = out.split('\n');
  assert.equal(parseApiKey(key), 'live');
  assert.match(notice ?? '', /only time the key is shown/);
  assert.match(heads ?? '', /LAST USED +REPLACED BY$/);
  assert.match(old ?? '', /rotating +2026-11-20T12:15:00Z +- +key_\w{20}$/);
  const [, id = ''] = /^(key_\w{20}) .* active +- +- +-$/.exec(successor ?? '') ?? [];
  assert.equal(end, `The key ${created.id} works until 2026-11-20T12:15:00Z; ${id} works from now on.`);
  assert.ok(!(await run('keys', 'list')).out.includes(key.slice(12, -4)));
});

test('keys list shows which keys rotate and when each was last used, and by that when the old one may go', async () => {
  const { run, json, openStore, clock, created } = await withKey();
  assert.doesNotMatch((await run('keys', 'list')).out, /REPLACED/);
  const successor = await json('keys', 'rotate', created.id, '--overlap', '1h');
  await openStore().keys.noteUses(new Map([[created.id, clock.nowMs]]));
  clock.nowMs += 600_000;
  await openStore().keys.noteUses(new Map([[successor.id, clock.nowMs]]));
  const told = async () =>
    (await json('keys', 'list')).map((key: Record<string, string>) => [
      key.id,
      key.state,
      key.replaced_by,
      key.last_used_at,
    ]);
  const uses = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:10:00.000Z'];
  assert.deepEqual(await told(), [
    [created.id, 'rotating', successor.id, uses[0]],
    [successor.id, 'active', null, uses[1]],
  ]);
  clock.nowMs += 3_000_000;
  assert.equal((await told())[0]?.[1], 'expired');
  await run('keys', 'revoke', created.id);
  assert.equal((await told())[0]?.[1], 'revoked');
});

for (const [what, created, flags, successorEnds, oldEnds] of [
  ['has the same lifetime again', ['--expires', '30d'], [], '2026-12-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
  ['ends at the time of --expires', ['--expires', '30d'], ['--expires', '1h'], '2026-11-21T01:00:00.000Z', undefined],
  ['may end though the old one never did', [], ['--expires', '90d'], '2027-02-19T00:00:00.000Z', undefined],
  ['leaves an old one its own end if that is sooner', ['--expires', '13h'], [], undefined, '2026-11-21T01:00:00.000Z'],
] as const) {
  test(`the new key ${what}`, async () => {
    const line = await withKey(...created);
    line.clock.nowMs += 12 * 3_600_000;
    const { expires_at, previous } = await line.json('keys', 'rotate', line.created.id, ...flags);
    if (successorEnds !== undefined) assert.equal(expires_at, successorEnds);
    if (oldEnds !== undefined) assert.equal(previous.expires_at, oldEnds);
  });
}

test('with --overlap 0s the old key ends at once', async () => {
  const { run, json, created } = await withKey();
  const { out } = await run('keys', 'rotate', created.id, '--overlap', '0s');
  const end = 'ends at 2026-11-20T12:00:00Z: running gateways refuse it within a second';
  assert.match(out, new RegExp(`The key ${created.id} ${end}; key_\\w{20} works from now on\\.\n$`));
  assert.equal((await json('keys', 'list'))[0].state, 'expired');
});

test('with --wait the command returns when no running gateway admits the old key any more, with the new key printed', async () => {
  const { run, json, directory, clock, created } = await withKey();
  const { answerTo } = await started(gatewayOn(directory, () => clock.nowMs));
  assert.equal(await answerTo(created.key), 200);
  const { code, out } = await run('keys', 'rotate', created.id, '--overlap', '0s', '--wait');
  assert.equal(await answerTo(created.key), 'api_key_expired');
  assert.equal(code, 0);
  const [key = ''] = out.split('\n');
  assert.equal(await answerTo(key), 200);
  assert.match(out, /\nThe key key_\w+ ends at .*\nConfirmed by 1 running gateway within \d\.\d s\.\n$/);
  const [, second] = await json('keys', 'list');
  const third = await json('keys', 'rotate', second.id, '--overlap', '0s', '--wait');
  assert.deepEqual([third.previous.state, third.confirmed.length, third.unconfirmed], ['expired', 1, []]);
  assert.deepEqual([await answerTo(key), await answerTo(third.key)], ['api_key_expired', 200]);
});

test('with --wait a gateway that does not confirm is named, and the new key is printed', async () => {
  const { run, openStore, clock, created } = await withKey();
  const instance = { id: 'gw_7', host: 'web-7', pid: 7, startedAtMs: clock.nowMs, position: 0, graceMs: 900_000 };
  await openStore().instances.report(instance);
  clock.nowMs += 60_000;
  const { code, out, err } = await run('keys', 'rotate', created.id, '--overlap', '0s', '--wait');
  assert.equal(code, 1);
  assert.equal(parseApiKey(out.split('\n')[0] ?? ''), 'live');
  assert.match(err, /^1 of 1 gateway did not confirm it/);
});

test('a successor can be rotated in turn, and the keys of a suspended organization too', async () => {
  const { run, json, created } = await withKey();
  await run('orgs', 'suspend', 'org_acme');
  const second = await json('keys', 'rotate', created.id);
  const third = await json('keys', 'rotate', second.id);
  assert.deepEqual([third.replaces, third.previous.replaced_by], [second.id, third.id]);
});

for (const [what, prepare, message] of [
  ['unknown', async () => 'key_nobody', /^There is no key key_nobody\.$/],
  [
    'revoked',
    async ({ run, created }) => {
      await run('keys', 'revoke', created.id);
      return created.id;
    },
    /is revoked since 2026-11-20T12:00:00Z: create a new one instead\.$/,
  ],
  [
    'expired',
    async ({ json, clock }) => {
      const { id } = await json(...CREATE, '--expires', '90s');
      clock.nowMs += 90_000;
      return id;
    },
    /expired on 2026-11-20T12:01:30Z: create a new one instead\.$/,
  ],
  [
    'rotated already, also when its overlap is over',
    async ({ run, created, clock }) => {
      await run('keys', 'rotate', created.id, '--overlap', '90s');
      clock.nowMs += 100_000;
      return created.id;
    },
    /was rotated already: its successor is key_\w{20}, which can be rotated in turn\.$/,
  ],
] as [string, (line: Awaited<ReturnType<typeof withKey>>) => Promise<string>, RegExp][]) {
  test(`a key that is ${what} is not rotated`, async () => {
    const line = await withKey();
    const id = await prepare(line);
    const before = await line.openStore().keys.list();
    const outcome = await line.run('keys', 'rotate', id);
    assert.deepEqual([outcome.code, outcome.out], [1, '']);
    assert.match(outcome.err, message);
    assert.deepEqual(await line.openStore().keys.list(), before);
  });
}

for (const [flags, message] of [
  [['--overlap', 'soon'], /--overlap "soon" is not a duration/],
  [['--overlap', '-1h'], /--overlap "-1h" is not a duration/],
  [['--expires', '0s'], /--expires "0s" is not in the future/],
  [['--expires', 'later'], /--expires "later" is neither/],
] as const) {
  test(`"keys rotate ${flags.join(' ')}" is called wrongly`, async () => {
    const { run, json, created } = await withKey();
    const outcome = await run('keys', 'rotate', created.id, ...flags);
    assert.equal(outcome.code, 2);
    assert.match(outcome.err, message);
    assert.equal((await json('keys', 'list')).length, 1);
  });
}

test('a running gateway admits both keys at once, and the old one no longer when the overlap is over', async () => {
  const { json, directory, clock, created } = await withKey();
  const { answerTo } = await started(gatewayOn(directory, () => clock.nowMs));
  assert.equal(await answerTo(created.key), 200);
  const { key } = await json('keys', 'rotate', created.id, '--overlap', '1h');
  assert.deepEqual([await answerTo(key), await answerTo(created.key)], [200, 200]);
  clock.nowMs += 3_600_000;
  await until(async () => (await answerTo(created.key)) === 'api_key_expired');
  assert.equal(await answerTo(key), 200);
});
