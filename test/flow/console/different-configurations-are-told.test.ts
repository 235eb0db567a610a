// Instances that share a Redis and go by different files are told of, after the minute in which a change reaches them all.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { apartAt, startRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';
import { inForce, saveAndReload } from '../reload/files.ts';

const limitsOf = (requests: number) => ({ tiers: { standard: { requests, windowSeconds: 60 } } });

it('names each version and its instances, until they have the same', async () => {
  const redis = await startRedis();
  const environment = { REDIS_URL: apartAt(redis.url) };
  const things = thingsAt(`http://127.0.0.1:${await unusedPort()}`);
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const start = (requests: number) => startGateway({ ...things, environment, now, limits: limitsOf(requests) });
  const gateways: TestGateway[] = [];
  try {
    for (const requests of [340, 350]) gateways.push(await start(requests));
    const [one, other] = gateways as [TestGateway, TestGateway];
    const found = async () => {
      const { causes } = (await (await fetch(`${one.adminUrl}/causes`)).json()) as CausesReport;
      return causes.find(({ id }) => id === 'configuration differs');
    };
    const feed = async () =>
      (await (await fetch(`${one.adminUrl}/console/feed?instance=all`)).json()) as { statuses: object[] };
    await eventually(async () => (await feed()).statuses.length === 2);
    assert.equal(await found(), undefined);
    aheadMs = 61_000;
    await eventually(async () => (await found()) !== undefined);
    const { cause = '', since } = (await found()) ?? {};
    const both = await Promise.all(gateways.map(inForce));
    for (const { version } of both) assert.ok(cause.includes(`${version} on `), cause);
    assert.equal(since, both.map(({ loaded_at: at }) => at).sort()[1]);
    for (const gateway of [one, other]) await saveAndReload(gateway, 'config/limits.yaml', limitsOf(340));
    assert.equal((await inForce(one)).version, (await inForce(other)).version);
    aheadMs += 61_000;
    await eventually(async () => (await found()) === undefined);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await redis.stop();
  }
});
