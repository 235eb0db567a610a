import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';

test('seed prints one organization and its key per line, and each of them works', async () => {
  const { run, openStore } = commandLine();
  const { code, out } = await run('seed', '--organizations', '4500', '--tier', 'premium', '--json');
  assert.equal(code, 0);
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(lines.length, 4500);
  assert.deepEqual(Object.keys(lines[0]), ['id', 'key']);
  assert.equal(new Set(lines.map(({ id }) => id)).size, 4500);
  const store = openStore();
  for (const { id, key } of lines) {
    const found = await store.keys.findByDigest(digestOf(key));
    assert.equal(found?.organization.id, id);
    assert.equal(found?.organization.tier, 'premium');
    assert.deepEqual(found?.key.scopes, ['*']);
    assert.equal(found?.key.mode, 'live');
  }
  const changes = await store.audit.list({ limit: 100 });
  assert.deepEqual(
    changes.map(({ kind, details }) => [kind, details.organizations]),
    [500, 2000, 2000].map((size) => ['organizations.seeded', size]),
  );
});

test('seed for people ends with a sentence', async () => {
  const { run } = commandLine();
  const words = ['seed', '--organizations', '2', '--tier', 'standard', '--mode', 'test', '--scopes', 'customers:read'];
  const lines = (await run(...words)).out.trimEnd().split('\n');
  assert.equal(lines.length, 4);
  assert.match(lines[0] ?? '', /^org_\w+ {2}sk_test_\w+$/);
  assert.match(lines[3] ?? '', /^2 organizations on tier standard/);
});

test('10,000 organizations take less than five seconds of CPU', async () => {
  const { run } = commandLine();
  const before = process.cpuUsage();
  await run('seed', '--organizations', '10000', '--tier', 'premium', '--json');
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 5e6, `${user + system} µs`);
});

for (const [words, code, message] of [
  [['--organizations', '0', '--tier', 'premium'], 2, /--organizations "0" is not a number from 1/],
  [['--organizations', '1e3', '--tier', 'premium'], 2, /--organizations "1e3"/],
  [['--organizations', '5'], 2, /--tier/],
  [['--organizations', '5', '--tier', 'premiun'], 1, /Did you mean "premium"/],
  [['--organizations', '5', '--tier', 'premium', '--scopes', 'mail:read'], 1, /operator organizations only/],
  [['--organizations', '5', '--tier', 'premium', '--mode', 'both'], 2, /live, test/],
] as const) {
  test(`seed ${words.join(' ')} ends with ${code} and makes nothing`, async () => {
    const { run, openStore } = commandLine();
    const outcome = await run('seed', ...words);
    assert.equal(outcome.code, code);
    assert.match(outcome.err, message);
    assert.deepEqual(await openStore().organizations.list(), []);
  });
}
