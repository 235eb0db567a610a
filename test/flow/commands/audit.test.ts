import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from './command-line.ts';

async function withHistory() {
  const line = commandLine();
  await line.run('orgs', 'create', '--id', 'org_a', '--name', 'A', '--tier', 'standard');
  line.clock.nowMs += 3_600_000;
  await line.run('orgs', 'create', '--id', 'org_b', '--name', 'B', '--tier', 'standard');
  await line.run('orgs', 'set-tier', 'org_a', 'premium');
  return line;
}

test('audit shows every change, newest first', async () => {
  const { json } = await withHistory();
  assert.deepEqual(await json('audit', '--limit', '1'), [
    {
      sequence: 3,
      at: '2026-11-20T13:00:00.000Z',
      by: 'tests',
      kind: 'organization.tier_changed',
      organization: 'org_a',
      key: null,
      details: { from: 'standard', to: 'premium', before: { tier: 'standard' }, after: { tier: 'premium' } },
    },
  ]);
  assert.equal((await json('audit')).length, 3);
});

test('audit can be narrowed to a time and an organization', async () => {
  const { json } = await withHistory();
  assert.equal((await json('audit', '--since', '30m')).length, 2);
  assert.equal((await json('audit', '--since', '2026-11-20T12:00:00Z')).length, 3);
  assert.equal((await json('audit', '--org', 'org_a')).length, 2);
  assert.equal((await json('audit', '--org', 'org_a', '--since', '30m')).length, 1);
});

test('audit for people is one line per change', async () => {
  const { run } = await withHistory();
  const lines = (await run('audit', '--limit', '1')).out.split('\n');
  assert.match(lines[0] ?? '', /^AT +BY +WHAT +ORGANIZATION +KEY +DETAILS$/);
  assert.match(
    lines[1] ?? '',
    /^2026-11-20T13:00:00Z +tests +organization\.tier_changed +org_a +- +from="standard" to="premium"$/,
  );
});

test('a change of files that several processes have applied is one line for people', async () => {
  const { run, json, openStore, clock } = commandLine();
  const store = openStore();
  const note = (instance: string, version: string) =>
    store.audit.append('configuration.changed', 'reload', {
      outcome: 'applied',
      changes: ['a: 1 → 2'],
      version,
      instance,
    });
  for (const instance of ['vm:8481', 'vm:8482', 'vm:8483']) await note(instance, 'sha256:1');
  clock.nowMs += 60_000;
  await note('vm:8481', 'sha256:2');
  await store.close();
  const lines = (await run('audit')).out.trimEnd().split('\n').slice(1);
  assert.deepEqual(
    lines.map((line) => /instance="(.*?)"/.exec(line)?.[1]),
    ['vm:8481', 'vm:8481, vm:8482, vm:8483'],
  );
  assert.equal((await json('audit')).length, 4);
});

for (const words of [
  ['--limit', '0'],
  ['--limit', 'many'],
  ['--since', 'yesterday'],
]) {
  test(`audit ${words.join(' ')} is a usage error`, async () => {
    const { run } = commandLine();
    const { code, err } = await run('audit', ...words);
    assert.equal(code, 2);
    assert.match(err, new RegExp(`^${words[0]} "${words[1]}"`));
  });
}

test('audit of an unknown organization suggests a similar one', async () => {
  const { run } = await withHistory();
  const { code, err } = await run('audit', '--org', 'org_c');
  assert.equal(code, 1);
  assert.match(err, /There is no organization org_c\. Did you mean "org_[ab]"\?/);
});
