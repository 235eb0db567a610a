// An instance whose clock differs from that of the others is named by each of them.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { apartAt, startRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';

it('names the instance that is ahead, and by how much', async () => {
  const redis = await startRedis();
  const environment = { REDIS_URL: apartAt(redis.url) };
  const things = thingsAt(`http://127.0.0.1:${await unusedPort()}`);
  let aheadMs = 0;
  const clocks = [Date.now, Date.now, () => Date.now() + aheadMs];
  const gateways: TestGateway[] = [];
  try {
    for (const now of clocks) gateways.push(await startGateway({ ...things, environment, now }));
    const told = async ({ adminUrl }: TestGateway) =>
      ((await (await fetch(`${adminUrl}/causes`)).json()) as CausesReport).causes.map(({ cause }) => cause).join();
    const [one, , other] = gateways as [TestGateway, TestGateway, TestGateway];
    await eventually(async () => {
      const feed = await (await fetch(`${one.adminUrl}/console/feed?instance=all`)).json();
      return (feed as { statuses: object[] }).statuses.length === 3;
    });
    assert.equal(await told(one), '');
    aheadMs = 600_000;
    for (const gateway of [one, other])
      await eventually(async () =>
        /^The clock of instance \S.* is 10 min ahead of that of \S.*\.$/.test(await told(gateway)),
      );
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await redis.stop();
  }
});
