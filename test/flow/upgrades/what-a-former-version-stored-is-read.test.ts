// Forwards: what the versions before left in their stores when they were killed is read by this one, with Redis and without.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { decodeHistory } from '../../../gateway/console/history/kept-history.ts';
import { COARSEST, RESOLUTIONS } from '../../../gateway/console/history/ranges.ts';
import { createSqliteReplayStore } from '../../../gateway/replay/sqlite-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type Fixture, FORMER, type Former, restoreFixture } from '../../support/former/fixture.ts';
import {
  askShop,
  EXPORTS_MAX,
  type ShopService,
  sendWrite,
  shopAt,
  startShopService,
  USED,
} from '../../support/former/shop.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { lookInside, startServer } from '../../support/redis.ts';

interface Upgraded {
  readonly fixture: Fixture;
  readonly service: ShopService;
  readonly redisUrl: string | undefined;
  readonly environment: Record<string, string>;
  /** Starts this version on what the former one left. */
  start(): Promise<TestGateway>;
}

type Kind = 'embedded' | 'redis';

async function upgrade(t: TestContext, version: Former, kind: Kind, agedMs: number): Promise<Upgraded> {
  const directory = temporaryDirectory();
  const dataDirectory = join(directory, 'data');
  const redis = kind === 'redis' ? await startServer() : undefined;
  const service = await startShopService();
  t.after(() => Promise.all([redis?.stop(), service.close()]));
  const fixture = await restoreFixture(version, { dataDirectory, redisUrl: redis?.url, agedMs });
  const shop = shopAt(service.url);
  const environment = { ...shop.environment, ...(redis && { REDIS_URL: redis.url }) };
  // What a start with --accept-one-way does.
  if (kind === 'embedded')
    await createSqliteReplayStore({
      directory: dataDirectory,
      acceptOneWay: true,
      now: Date.now,
      onChange() {},
    }).close();
  return {
    fixture,
    service,
    redisUrl: redis?.url,
    environment: { ...environment, GATEWAY_DATA: dataDirectory },
    async start() {
      const gateway = await startGateway({ ...shop, environment, dataDirectory });
      t.after(() => gateway.stop());
      return gateway;
    },
  };
}

for (const version of FORMER) {
  for (const kind of ['embedded', 'redis'] as const) {
    test(`keys, audit log, secrets and uses of ${version}, ${kind}`, async (t) => {
      const { fixture, start, environment } = await upgrade(t, version, kind, 0);
      const { port, directory, store, url } = await start();
      const statuses = await Promise.all(
        ['good', 'suspended', 'revoked', 'rotated', 'successor'].map(
          async (name) => (await askShop(port, fixture.key(name), 'GET /v1/items')).status,
        ),
      );
      assert.deepEqual(statuses, [200, 403, 401, 200, 200]);
      const audit = await store.audit.list({ limit: 100 });
      const revoked = audit.find((change) => change.kind === 'key.revoked');
      assert.deepEqual(revoked?.details, { reason: "a customer's laptop" });
      const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: object[] };
      assert.equal(keys.length, 1);
      const around = {
        ...environment,
        GATEWAY_CONFIG: join(directory, 'config'),
        GATEWAY_CONTRACTS: join(directory, 'openapi'),
      };
      const usage = await runInProcess(['versions', 'usage', '--json'], { environment: around });
      assert.match(usage.stdout, new RegExp(`"calls": ?${USED.listOld}\\b`), usage.stderr);
    });

    test(`answers that ${version} gave are given again, ${kind}`, async (t) => {
      const { fixture, start, service } = await upgrade(t, version, kind, 0);
      const { port } = await start();
      const repeat = (name: Parameters<typeof sendWrite>[2]) => sendWrite(port, fixture.key('good'), name);
      for (const name of ['item', 'form'] as const) {
        const { status, replayed, text, error } = await repeat(name);
        assert.deepEqual(
          { status, replayed, text },
          { ...fixture.answerTo(name), replayed: true },
          `${name}: ${error.code}`,
        );
      }
      const refused = await repeat('refused');
      assert.deepEqual([refused.status, refused.replayed, refused.error.code], [422, true, 'upstream_rejected']);
      assert.equal((await repeat('long')).error.code, 'idempotency_result_not_retained');
      assert.equal(
        (await sendWrite(port, fixture.key('good'), 'refused', 'item')).error.code,
        'idempotency_key_reused',
      );
      assert.equal((await repeat('running')).error.code, 'idempotency_key_in_use');
      assert.deepEqual([...service.runs.keys()], []);
    });
  }

  test(`counters of ${version} go on in Redis`, async (t) => {
    const { fixture, start } = await upgrade(t, version, 'redis', 0);
    const { port } = await start();
    const init = { body: '{}', headers: { 'content-type': 'application/json' } };
    const statuses = [];
    for (let i = 0; i <= EXPORTS_MAX - USED.exports; i++)
      statuses.push((await askShop(port, fixture.key('good'), 'POST /v1/exports', init)).status);
    assert.deepEqual(statuses, [...new Array(EXPORTS_MAX - USED.exports).fill(201), 429]);
  });
}

/** Later than the lease of every write. */
const LATER_MS = 60_000;

for (const [version, kind] of [
  ['0af7161', 'embedded'],
  ['0af7161', 'redis'],
  ['67ad2c9', 'embedded'],
] as const) {
  test(`a write that ran when ${version} was killed does not run again, ${kind}`, async (t) => {
    const { fixture, start, service } = await upgrade(t, version, kind, LATER_MS);
    const { port } = await start();
    const { status, error } = await sendWrite(port, fixture.key('good'), 'running');
    assert.deepEqual([status, error.code, error.retryable], [409, 'idempotency_outcome_unknown', false]);
    if (version === '0af7161')
      assert.equal((await sendWrite(port, fixture.key('good'), 'cut')).error.code, 'idempotency_outcome_unknown');
    assert.equal(service.runs.get('running'), undefined);
  });
}

test('a write that ran when 67ad2c9 was killed does not run again if it is repeated while its key is in use, Redis', async (t) => {
  const { fixture, start, service, redisUrl = '' } = await upgrade(t, '67ad2c9', 'redis', 0);
  const { port } = await start();
  const repeat = () => sendWrite(port, fixture.key('good'), 'running');
  assert.equal((await repeat()).error.code, 'idempotency_key_in_use');
  const client = lookInside(redisUrl);
  t.after(() => client.disconnect());
  for (const name of await client.keys('idem:*:live:*')) {
    // The lease ends.
    if ((await client.hexists(name, 'owner')) === 1) await client.pexpire(name, (await client.pttl(name)) - 10_000);
  }
  const { status, error } = await repeat();
  assert.deepEqual([status, error.code, error.retryable], [409, 'idempotency_outcome_unknown', false]);
  assert.ok(!('sent_at' in error), 'an earlier version did not store when it was sent');
  assert.equal(service.runs.get('running'), undefined);
});

test('the history of the console of 0af7161 is read', async () => {
  const directory = temporaryDirectory();
  const { history = Buffer.alloc(0) } = await restoreFixture('0af7161', { dataDirectory: directory });
  const [, width] = JSON.parse(JSON.parse(history.toString('utf8', 0, history.indexOf(10))).form) as [number, number];
  // This release also counts what the gateway refused, what of that was a 5xx, and what broke the contract.
  const widthNow = width + 3;
  const kept = decodeHistory(history, widthNow, Date.now() + LATER_MS);
  const counted = kept?.operations.get('POST /v1/exports');
  assert.deepEqual(
    counted?.map(({ cells }) => cells.length),
    RESOLUTIONS.map(({ slots }) => slots * widthNow),
  );
  const sums = counted?.map(({ cells }) => cells.reduce((sum, count) => sum + count, 0)) ?? [];
  assert.ok((sums[COARSEST] ?? 0) > 0 && sums.every((sum) => sum === sums[COARSEST]), `${sums}`);
  assert.equal(decodeHistory(history.subarray(0, -1), widthNow, Date.now() + LATER_MS), undefined);
});
