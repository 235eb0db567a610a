// Gateways that share a Redis are shown alone or all together, by the console of any of them; an outage of Redis is one cause.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import type { ExchangeRow } from '../../../gateway/console/exchanges.ts';
import type { Feed } from '../../../gateway/console/feed/feed.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askWith, eventually, type Instances, startInstances, untilRead } from '../../support/instances.ts';
import { apartAt, type Relay, startRedis, startRelay, type TestRedis } from '../../support/redis.ts';

interface Answer extends Feed {
  readonly here: string;
  readonly instance: string;
  /** Instances without figures. */
  readonly without: readonly string[];
  readonly can_ask: boolean;
  readonly instances: readonly { readonly id: string; readonly name: string }[];
}

describe('instances that share a Redis', () => {
  let redis: TestRedis;
  let relay: Relay;
  let instances: Instances;
  let one: TestGateway;
  let other: TestGateway;
  let key: string;
  before(async () => {
    redis = await startRedis();
    const url = apartAt(redis.url);
    relay = await startRelay(url);
    instances = await startInstances([relay.url, url]);
    [one, other] = instances.gateways as [TestGateway, TestGateway];
    ({ key } = await one.issueKey());
    await untilRead(instances);
    for (const gateway of [one, one, other]) assert.equal((await askWith(key, gateway)).status, 200);
  });
  after(async () => {
    await instances.close();
    await relay.stop();
    await redis.stop();
  });

  const read = async <T>({ adminUrl }: TestGateway, path: string): Promise<T> =>
    (await (await fetch(`${adminUrl}/console/${path}`)).json()) as T;
  const requestsIn = ({ history }: Feed) => history?.all.total.requests;

  it('find each other', async () => {
    await eventually(async () => (await read<Answer>(one, 'feed')).instances.length === 2);
    await eventually(async () => (await read<Answer>(other, 'feed')).instances.length === 2);
  });

  it('are shown alone, chosen, or all together', async () => {
    const own = await read<Answer>(one, 'feed');
    assert.equal(requestsIn(own), 2);
    const chosen = own.instances.find(({ id }) => id !== own.here)?.id;
    const far = await read<Answer>(one, `feed?instance=${chosen}`);
    assert.deepEqual([requestsIn(far), far.instance], [1, chosen]);
    for (const gateway of instances.gateways) {
      const all = await read<Answer>(gateway, 'feed?instance=all');
      assert.deepEqual([requestsIn(all), all.statuses.length, all.instance], [3, 2, 'all']);
      assert.deepEqual([all.without, all.can_ask], [[], true]);
      assert.ok(all.events.every(({ instance }) => instance !== undefined));
    }
    assert.equal(requestsIn(await read<Answer>(one, 'feed?instance=unknown')), 2);
  });

  it('list their exchanges together, and find a request wherever it was', async () => {
    const { exchanges } = await read<{ exchanges: ExchangeRow[] }>(one, 'exchanges?instance=all');
    assert.deepEqual([exchanges.length, exchanges.filter(({ instance }) => instance !== undefined).length], [3, 1]);
    const far = exchanges.find(({ instance }) => instance !== undefined);
    const { exchanges: stories } = await read<{ exchanges: { request_id: string }[] }>(
      one,
      `exchanges/${far?.request_id}`,
    );
    assert.deepEqual(
      stories.map(({ request_id }) => request_id),
      [far?.request_id],
    );
  });

  it('tell an outage of Redis in one line, with cause, consequence, begin and end', async () => {
    const killedAt = Date.now();
    await relay.kill();
    const away = async () => {
      const { attention } = await read<Answer>(one, 'feed');
      return attention.length === 1 && /limits are counted per instance/.test(attention[0]?.consequence ?? '')
        ? attention[0]
        : undefined;
    };
    await eventually(async () => /^Known keys work/.test((await away())?.consequence ?? ''));
    const cause = await away();
    assert.match(cause?.cause ?? '', /^Redis 127\.0\.0\.1:\d+ /);
    assert.equal(cause?.runbook, 'GatewayKeyStoreAway');
    assert.ok(Date.parse(cause?.since ?? '') <= Date.now());
    assert.ok(Date.parse(cause?.until ?? '') > Date.now());
    assert.equal((await askWith(key, one)).status, 200);
    // What is missing is named, in the place of figures that fall and of empty tables.
    const all = await read<Answer>(one, 'feed?instance=all');
    const [otherName] = all.instances.filter(({ id }) => id !== all.here).map(({ name }) => name);
    assert.deepEqual([all.can_ask, all.without], [false, [otherName]]);
    // An instance that cannot ask the others does not speak for them.
    const [ownName] = all.instances.filter(({ id }) => id === all.here).map(({ name }) => name);
    const { causes } = (await (await fetch(`${one.adminUrl}/causes`)).json()) as CausesReport;
    assert.deepEqual(causes[0]?.instances, [ownName]);
    assert.ok(
      causes[0]?.consequence.endsWith(`: ${ownName} speaks for itself alone. Ask ${otherName}, too.`),
      causes[0]?.consequence,
    );
    for (const [path, what] of [
      ['audit', 'This'],
      ['organizations/org_any', 'The record of this organization'],
    ]) {
      const answer = await fetch(`${one.adminUrl}/console/${path}`);
      assert.equal(answer.status, 503);
      assert.match(
        ((await answer.json()) as { error: string }).error,
        new RegExp(`^${what} cannot be read at present, because Redis is away: \\S.*[^.]\\. It is tried again\\.$`),
      );
    }
    const { events } = await read<Answer>(one, 'feed');
    assert.deepEqual(
      events
        .filter(({ kind, at, until }) => kind === 'outage' && (until === null || Date.parse(at) >= killedAt))
        .map(({ until }) => until),
      [null],
    );
  });
});
