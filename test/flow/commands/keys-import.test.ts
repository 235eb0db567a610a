import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startRedis } from '../../support/redis.ts';
import { PEPPER, pepperFingerprint } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';
import { gatewayOn } from './gateway-on.ts';

const started = closesAfterEach();

/** A store with keys of every kind, and the lines of its export. */
async function exported() {
  const line = commandLine();
  await line.run('orgs', 'create', '--id', 'org_a', '--name', 'A\u2028"A"', '--tier', 'premium');
  await line.run('orgs', 'create', '--id', 'org_b', '--name', 'B', '--tier', 'standard', '--operator');
  const create = (id: string, ...flags: string[]) =>
    line.json('keys', 'create', '--org', id, '--mode', 'live', '--scopes', 'customers:read', '*', ...flags);
  const rotated = await create('org_a', '--expires', '30d');
  const successor = await line.json('keys', 'rotate', rotated.id);
  const allowed = await create('org_a', '--allow', '127.0.0.0/8', '--name', 'first');
  const elsewhere = await create('org_b', '--allow', '192.0.2.0/24');
  const expired = await create('org_b', '--expires', '1s');
  const revoked = await create('org_b');
  await line.run('keys', 'revoke', revoked.id, '--reason', 'leaked');
  line.clock.nowMs += 1000;
  const { out: text } = await line.run('keys', 'export');
  return { ...line, text, keys: { rotated, successor, allowed, elsewhere, expired, revoked } };
}

/** The export in a file, changed on the way. */
function fileOf(text: string): string {
  const file = join(temporaryDirectory(), 'keys.jsonl');
  writeFileSync(file, text);
  return file;
}

test('tiers and scopes that the configuration does not know are imported, and named', async () => {
  const { text } = await exported();
  const strange = text
    .replace('"tier":"premium"', '"tier":"gold"')
    .replace('["customers:read","*"]', '["customers:raed"]');
  const { out, err } = await commandLine().run('keys', 'import', fileOf(strange));
  assert.match(out, /^Imported 2 organizations and 6 keys;/);
  assert.equal(
    err,
    'warning: the configuration has no tier gold.\nwarning: the configuration has no scope customers:raed.\n',
  );
});

test('every key of an export works in a new store as it did in the old one', async () => {
  const { text, keys, clock, openStore } = await exported();
  const other = commandLine();
  other.clock.nowMs = clock.nowMs;
  const { out, err } = await other.run('keys', 'import', fileOf(text));
  assert.equal(out, 'Imported 2 organizations and 6 keys; 0 and 0 were there already and stay as they are.\n');
  assert.equal(err, '');
  assert.deepEqual(await other.openStore().keys.list(), await openStore().keys.list());
  assert.deepEqual(await other.openStore().organizations.list(), await openStore().organizations.list());

  const { answerTo } = await started(gatewayOn(other.directory, () => clock.nowMs));
  const answers = await Promise.all(Object.entries(keys).map(async ([name, { key }]) => [name, await answerTo(key)]));
  assert.deepEqual(Object.fromEntries(answers), {
    rotated: 200,
    successor: 200,
    allowed: 200,
    elsewhere: 'ip_not_allowed',
    expired: 'api_key_expired',
    revoked: 'api_key_revoked',
  });
});

test('importing again adds nothing and revives nothing', async () => {
  const { run, json, text, keys, openStore } = await exported();
  const file = fileOf(text);
  await run('keys', 'revoke', keys.allowed.id);
  await run('orgs', 'suspend', 'org_b');
  const before = [await openStore().keys.list(), await openStore().organizations.list()];
  assert.deepEqual(await json('keys', 'import', file), {
    organizations: { new: 0, already_there: 2 },
    keys: { new: 0, already_there: 6 },
  });
  assert.deepEqual([await openStore().keys.list(), await openStore().organizations.list()], before);
});

test('a store in use gets the missing records', async () => {
  const { text } = await exported();
  const { run, json } = commandLine();
  await run('orgs', 'create', '--id', 'org_a', '--name', 'Of its own', '--tier', 'standard');
  assert.deepEqual((await json('keys', 'import', fileOf(text))).organizations, { new: 1, already_there: 1 });
  assert.equal((await json('orgs', 'list'))[0].name, 'Of its own');
});

test('standard input is imported while it is read, and a message says so', async () => {
  const { text } = await exported();
  const { runWith } = commandLine();
  // In pieces that end anywhere, as pipes deliver them.
  const input = text.match(/.{1,100}/gs) ?? [];
  const { out, err } = await runWith({ input }, 'keys', 'import', '-', '--json');
  assert.equal(out, '{"organizations":{"new":2,"already_there":0},"keys":{"new":6,"already_there":0}}\n');
  assert.equal(err, 'Importing from standard input as it is read: what comes before a mistake is imported.\n');
});

test('an embedded store moves to Redis through a pipe, in batches', async (t) => {
  const { run, openStore, directory } = commandLine();
  await run('seed', '--organizations', '2500', '--tier', 'premium');
  const redis = await started(startRedis());
  const gateway = new URL('../../../bin/gateway', import.meta.url).pathname;
  const env = { ...process.env, KEY_PEPPER: PEPPER, GATEWAY_DATA: directory, GATEWAY: gateway, TO: redis.url };
  const script = 'env -u REDIS_URL "$GATEWAY" keys export --json | REDIS_URL="$TO" "$GATEWAY" keys import - --json';
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { env });
  assert.deepEqual(JSON.parse(stdout).keys, { new: 2500, already_there: 0 });

  const other = await openRedisStore({ url: redis.url, pepperFingerprint, now: Date.now });
  t.after(() => other.close());
  const sorted = (keys: readonly { id: string }[]) => keys.toSorted((one, next) => (one.id < next.id ? -1 : 1));
  assert.deepEqual(sorted(await other.keys.list()), sorted(await openStore().keys.list()));
  const rows = (await other.audit.list({ limit: 10 })).map(({ kind, details }) => [kind, details]);
  assert.deepEqual(rows.toReversed(), [
    ['records.imported', { organizations: 2000, keys: 0 }],
    ['records.imported', { organizations: 500, keys: 1500 }],
    ['records.imported', { organizations: 0, keys: 1000 }],
  ]);
});

test('a long import shows how far it has come', async () => {
  const { run } = commandLine();
  await run('seed', '--organizations', '3000', '--tier', 'premium');
  const { out: text } = await run('keys', 'export');
  const file = fileOf(text);
  const { runWith, clock } = commandLine();
  clock.stepMs = 4000;
  const { out, err } = await runWith({ onTerminal: true }, 'keys', 'import', file, '--json');
  assert.equal(JSON.parse(out).keys.new, 3000);
  assert.match(err, /^\rchecking: 2000 records, \d+ %, \d+\/s.*\rimporting: 6000 records, 100 %, \d+\/s/s);
  assert.ok(err.endsWith('\r\x1b[K'), 'the terminal is left as it was');
});
