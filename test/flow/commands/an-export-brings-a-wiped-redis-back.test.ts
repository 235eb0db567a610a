// The worst day of a Redis: everything is gone while gateways run. With an export, every key works as before, and nothing is started anew.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { askWith, eventually, startInstances, untilRead } from '../../support/instances.ts';
import { createInstallation } from '../../support/process.ts';
import { apartAt, startRedis, wipe } from '../../support/redis.ts';

const redis = await startRedis();
const url = apartAt(redis.url);
const instances = await startInstances([url, url], { limits: { addresses: { failures: 60 } } });
const operator = createInstallation({ REDIS_URL: url });
after(async () => {
  await instances.close();
  operator.remove();
  await redis.stop();
});

/** The answer of every instance to every key: status, and the code of a refusal. */
async function outcomes(keys: readonly string[]): Promise<string[][]> {
  const outcomeOf = async (key: string, gateway: (typeof instances.gateways)[0]) => {
    const { status, error } = await askWith(key, gateway);
    return `${status} ${error.code ?? ''}`.trim();
  };
  return Promise.all(instances.gateways.map((gateway) => Promise.all(keys.map((key) => outcomeOf(key, gateway)))));
}

interface Cause {
  readonly id: string;
  readonly kind: string;
  readonly since: string;
  readonly runbook?: string;
  readonly next?: string;
}

async function causesOf({ adminUrl }: (typeof instances.gateways)[0]): Promise<readonly Cause[]> {
  const feed = (await (await fetch(`${adminUrl}/console/feed`)).json()) as { readonly attention: readonly Cause[] };
  return feed.attention.filter(({ kind }) => kind === 'bad');
}

test('export, wipe, import: every key works as before', async () => {
  const [{ store, issueKey }] = instances.gateways as [(typeof instances.gateways)[0] & object];
  const good = await issueKey();
  const narrow = await issueKey({ scopes: ['orders:write'] });
  const revoked = await issueKey();
  await store.keys.revoke(revoked.id, 'test', 'no reason');
  const expired = await issueKey({ expiresAtMs: Date.now() - 1 });
  const elsewhere = await issueKey({ allowedCidrs: ['192.0.2.0/24'] });
  const suspended = await issueKey({ organization: 'org_suspended' });
  await store.organizations.suspend('org_suspended', 'test');
  const keys = [good, narrow, revoked, expired, elsewhere, suspended].map(({ key }) => key);
  await untilRead(instances);
  const expected = [
    '200',
    '403 insufficient_scope',
    '401 api_key_revoked',
    '401 api_key_expired',
    '403 ip_not_allowed',
    '403 account_inactive',
  ];
  const before = await outcomes(keys);
  assert.deepEqual(before, [expected, expected]);

  const file = `${operator.dataDirectory}.jsonl`;
  const exported = await operator.run('keys', 'export', '--file', file);
  assert.equal(exported.code, 0, exported.stderr);
  const wipedAtMs = Date.now();
  await wipe(url);
  await eventually(async () => (await outcomes(keys)).flat().every((outcome) => outcome === '401 api_key_invalid'));
  for (const gateway of instances.gateways)
    await eventually(async () => (await causesOf(gateway)).some(({ id }) => id === 'keys lost'));
  const [cause] = await causesOf(instances.gateways[0] as (typeof instances.gateways)[0]);
  assert.deepEqual(
    [cause?.id, cause?.kind, cause?.runbook, cause?.next],
    ['keys lost', 'bad', 'GatewayKeyStoreEmpty', 'bin/gateway keys import keys.jsonl'],
  );
  assert.ok(Date.parse(cause?.since ?? '') >= wipedAtMs, cause?.since);

  // Clients repeat their requests more often than the limit of failures of an address allows.
  for (let time = 0; time < 20; time += 1)
    for (const outcome of (await outcomes(keys)).flat()) assert.equal(outcome, '401 api_key_invalid');

  const imported = await operator.run('keys', 'import', file, '--json');
  assert.equal(imported.code, 0, imported.stderr);
  assert.deepEqual(JSON.parse(imported.stdout).keys, { new: keys.length, already_there: 0 });
  await eventually(async () => (await outcomes([good.key])).flat().every((outcome) => outcome === '200'));
  assert.deepEqual(await outcomes(keys), before);
  await eventually(async () => (await causesOf(instances.gateways[0] as (typeof instances.gateways)[0])).length === 0);
  // One line tells the whole outage afterwards, with the requests that it refused on both instances.
  const feed = await fetch(`${instances.gateways[0]?.adminUrl}/console/feed?instance=all`);
  const { listed } = (await feed.json()) as {
    readonly listed: readonly { readonly kind: string; readonly text: string }[];
  };
  const [outage, ...others] = listed.filter(({ kind }) => kind === 'outage');
  assert.deepEqual(others, []);
  const [, refused, requests] = /is empty: .* \((\d+) of (\d+) requests were refused\)$/.exec(outage?.text ?? '') ?? [];
  assert.ok(Number(refused) >= 20 * 2 * keys.length && Number(refused) < Number(requests), outage?.text);
  for (const gateway of instances.gateways) {
    assert.ok(
      gateway.logLines().some(({ level, msg }) => level === 50 && /^the key store was wiped/.test(String(msg))),
    );
  }
});
