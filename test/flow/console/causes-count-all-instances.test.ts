// A cause that several gateways see is one cause, with the counts of all of them: in the console, by `gateway status`, and in webhooks.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import type { Feed } from '../../../gateway/console/feed/feed.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askWith, eventually, type Instances, startInstances, untilRead } from '../../support/instances.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';

const ORGANIZATION = 'org_bulk';
const LIMIT = 20;

let redis: TestRedis;
let instances: Instances;
before(async () => {
  redis = await startRedis();
  const limits = { tiers: { standard: { requests: LIMIT, windowSeconds: 60 } } };
  instances = await startInstances([redis.url, redis.url], { limits });
});
after(async () => {
  await instances.close();
  await redis.stop();
});

const read = async <T>({ adminUrl }: TestGateway, path: string): Promise<T> =>
  (await (await fetch(`${adminUrl}/${path}`)).json()) as T;

it('a refused organization is one row, with the refusals of all instances', async () => {
  const [one, other] = instances.gateways as [TestGateway, TestGateway];
  const { key } = await one.issueKey({ organization: ORGANIZATION });
  await untilRead(instances);
  await eventually(async () => (await read<Feed>(one, 'console/feed?instance=all')).statuses.length === 2);
  // The other instance admits nearly the whole limit, and then refuses only a few requests.
  const statuses = [];
  for (let count = 0; count < LIMIT + 1; count += 1) statuses.push((await askWith(key, other)).status);
  for (let count = 0; count < 30; count += 1) statuses.push((await askWith(key, one)).status);
  const refused = statuses.filter((status) => status === 429).length;
  const requests = statuses.length;
  assert.ok(refused > 0.3 * requests);
  const counted = `${refused} of ${requests} requests (${Math.round((100 * refused) / requests)} %)`;
  for (const gateway of instances.gateways) {
    // A client may have the last response before it is counted.
    await eventually(async () => {
      const { history } = await read<Feed>(gateway, 'console/feed?instance=all');
      return history?.all.minute.requests === requests;
    });
    const { attention, organizations } = await read<Feed>(gateway, 'console/feed?instance=all');
    assert.deepEqual(
      attention.map(({ id }) => id),
      [`organization ${ORGANIZATION}`],
    );
    assert.ok(attention[0]?.cause.endsWith(`: ${counted} in the last minute.`), attention[0]?.cause);
    assert.deepEqual(attention[0]?.figures, { requests, refused });
    assert.equal(organizations[0]?.refused, refused);
    assert.deepEqual(
      Object.keys(attention[0] ?? {}).filter((member) => /about|told|extent|fault/.test(member)),
      [],
    );
    const { causes } = await read<CausesReport>(gateway, 'causes');
    assert.deepEqual(
      [causes.length, causes[0]?.cause, causes[0]?.figures],
      [1, attention[0]?.cause, { requests, refused }],
    );
  }
});
