import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway } from '../../support/gateway.ts';
import { createInstallation } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { issue, organization, PEPPER, pepperFingerprint } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';
import { gatewayOn } from './gateway-on.ts';

const started = closesAfterEach();

async function withKey() {
  const line = commandLine();
  line.clock.nowMs = Date.now();
  await line.run('orgs', 'create', '--id', 'org_acme', '--name', 'Acme', '--tier', 'premium');
  const { id, key } = await line.json('keys', 'create', '--org', 'org_acme', '--mode', 'live', '--scopes', '*');
  return { ...line, id, key };
}

/** As a gateway reports itself, which has then been silent for so long. */
const instance = (pid: number, nowMs: number, silentMs: number) => ({
  id: `gw_${pid}`,
  host: `web-${pid}`,
  pid,
  startedAtMs: nowMs - silentMs,
  position: 0,
  graceMs: 900_000,
});

test('keys revoke --wait returns when no running gateway admits the key any more', async () => {
  const { run, json, directory, id, key } = await withKey();
  const { answerTo } = await started(gatewayOn(directory));
  assert.equal(await answerTo(key), 200);
  const { code, out } = await run('keys', 'revoke', id, '--wait');
  assert.equal(await answerTo(key), 'api_key_revoked');
  assert.equal(code, 0);
  assert.match(out, /^The key key_\w+ is revoked since .*Z\.\nConfirmed by 1 running gateway within \d\.\d s\.\n$/);
  const { state, waited_ms, confirmed, unconfirmed } = await json('keys', 'revoke', id, '--wait');
  assert.equal(state, 'revoked');
  assert.ok(waited_ms < 5000, 'a change that is in force already needs no wait');
  assert.deepEqual(
    confirmed.map(({ host, pid }: { host: string; pid: number }) => [host, pid]),
    [[hostname(), process.pid]],
  );
  assert.deepEqual(unconfirmed, []);
});

test('orgs suspend, resume and set-tier wait in the same way', async () => {
  const { run, json, directory, key } = await withKey();
  const { answerTo } = await started(gatewayOn(directory));
  assert.equal(await answerTo(key), 200);
  const { code, out } = await run('orgs', 'suspend', 'org_acme', '--wait');
  assert.equal(await answerTo(key), 'account_inactive');
  assert.equal(code, 0);
  assert.match(
    out,
    /^The organization org_acme is suspended, on tier premium\.\nConfirmed by 1 running gateway within /,
  );
  const resumed = await json('orgs', 'resume', 'org_acme', '--wait');
  assert.equal(await answerTo(key), 200);
  assert.deepEqual([resumed.state, resumed.confirmed.length, resumed.unconfirmed], ['active', 1, []]);
  assert.equal((await json('orgs', 'set-tier', 'org_acme', 'standard', '--wait')).confirmed.length, 1);
});

test('without a running gateway there is nothing to wait for, and a message states that', async () => {
  const { run, json, id } = await withKey();
  assert.match((await run('keys', 'revoke', id, '--wait')).out, /\nNo gateway is running on this store\.\n$/);
  const { confirmed, unconfirmed } = await json('keys', 'revoke', id, '--wait');
  assert.deepEqual([confirmed, unconfirmed], [[], []]);
});

test('a gateway that was silent before is named at once, with the keys that it may still accept and for how long', async () => {
  const { run, openStore, clock, id } = await withKey();
  await openStore().instances.report(instance(7, clock.nowMs, 0));
  clock.nowMs += 60_000;
  await openStore().instances.report({ ...instance(8, clock.nowMs, 0), position: 1000 });
  const { code, out, err } = await run('keys', 'revoke', id, '--wait', '--timeout', '1h');
  assert.equal(code, 1);
  assert.equal(out.split('\n').length, 2);
  const until = new Date(clock.nowMs + 840_000).toISOString().replace(/\.\d+/, '');
  assert.match(err, /^1 of 2 gateways did not confirm it within \d\.\d s:\n/);
  const [, line, end] = err.split('\n');
  const may = `It is gone, or cut off from the store and may let known keys in until ${until}.`;
  assert.equal(line, `  web-7, pid 7: silent for 60 s. ${may}`);
  assert.equal(end, 'The change itself stays in any case.');
});

test('the command waits up to --timeout for a gateway that reports but is behind, also with --json', async () => {
  const { run, openStore, clock, id } = await withKey();
  await openStore().instances.report(instance(7, clock.nowMs, 0));
  const { code, out, err } = await run('keys', 'revoke', id, '--wait', '--timeout', '1s', '--json');
  assert.equal(code, 1);
  const { state, waited_ms, unconfirmed } = JSON.parse(out);
  assert.equal(state, 'revoked');
  assert.ok(waited_ms >= 1000);
  const graceEnds = new Date(clock.nowMs + 900_000).toISOString();
  assert.deepEqual(unconfirmed, [{ id: 'gw_7', host: 'web-7', pid: 7, silent_ms: 0, grace_ends_at: graceEnds }]);
  assert.match(err, /web-7, pid 7: silent for 0\.0 s\. It is behind; ask again\./);
});

test('--timeout must be a duration', async () => {
  const { run, json, id } = await withKey();
  const outcome = await run('keys', 'revoke', id, '--wait', '--timeout', 'long');
  assert.deepEqual([outcome.code, outcome.err], [2, '--timeout "long" is not a duration such as 10s or 2m.']);
  assert.equal((await json('keys', 'list'))[0].state, 'active');
});

test('of gateways on several machines the frozen one is named', async (t) => {
  const redis = await started(startRedis());
  const store = await openRedisStore({ url: redis.url, pepperFingerprint, now: Date.now });
  t.after(() => store.close());
  const { record } = issue();
  await store.seed([organization()], [record], 'tests');
  const directory = temporaryDirectory();
  const things = thingsAt('http://127.0.0.1:9');
  writeConfiguration(directory, things);
  const shared = { REDIS_URL: redis.url, KEY_PEPPER: PEPPER };
  const there = createInstallation({
    ...environmentOf(directory),
    ...shared,
  });
  t.after(there.remove);
  await started(startGateway({ ...things, environment: shared }));
  const frozen = await started(there.start());
  frozen.child.kill('SIGSTOP');
  try {
    const { code, stdout, stderr } = await there.run('keys', 'revoke', record.id, '--wait', '--timeout', '1s');
    assert.equal(code, 1);
    assert.match(stdout, /^The key key_\w+ is revoked since /);
    const named = new RegExp(`^gateway: 1 of 2 gateways .*:\n {2}${hostname()}, pid ${frozen.child.pid}: silent for `);
    assert.match(stderr, named);
    assert.match(stderr, /\nThe change itself stays in any case\.\n$/);
  } finally {
    frozen.child.kill('SIGCONT');
  }
  const confirmed = JSON.parse((await there.run('keys', 'revoke', record.id, '--wait', '--json')).stdout).confirmed;
  assert.equal(confirmed.length, 2);
});
