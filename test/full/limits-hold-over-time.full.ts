// Claims that need time: the limit holds under minutes of overload on several gateways, and over the border of a minute.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Decided, overload } from '../../bench/limits-overload.ts';
import { busiestSpan, countOfFirst, countsOfWindows } from '../../bench/limits-spans.ts';
import type { TestGateway } from '../support/gateway.ts';
import { askWith, type Instances, startInstances } from '../support/instances.ts';
import { startServer, type TestRedis } from '../support/redis.ts';

describe('under overload on four gateways', () => {
  const requests = 200;
  const windowMs = 2_000;
  let decided: Decided;
  before(async () => {
    const rule = { requests, windowSeconds: windowMs / 1000 };
    decided = await overload({ ...rule, instances: 4, clients: 400, durationMs: 20_000, pauseMs: 20 });
  });

  it('Redis decided, and no gateway went on without it', () => {
    assert.deepEqual(Object.keys(decided.sources).sort(), ['known', 'redis']);
    assert.deepEqual(Object.keys(decided.statuses), ['200', '429']);
  });

  it('exactly the limit is admitted in the first window', () => {
    assert.equal(countOfFirst(decided.admittedAtMs, windowMs), requests);
  });

  it('no span of a window has more than the limit', () => {
    assert.equal(busiestSpan(decided.admittedAtMs, windowMs), requests);
  });

  it('no full window has less than the limit but for two per cent', () => {
    const { admittedAtMs, lastDecisionMs } = decided;
    const counts = countsOfWindows(admittedAtMs, windowMs, admittedAtMs[0] as number, lastDecisionMs);
    assert.ok(counts.length >= 9 && Math.min(...counts) >= requests * 0.98, counts.join(' '));
  });
});

describe('over the border of a minute', () => {
  let redis: TestRedis;
  let instances: Instances;
  before(async () => {
    redis = await startServer();
    instances = await startInstances([redis.url, redis.url, redis.url], {
      limits: { tiers: { standard: { requests: 100 } } },
    });
  });
  after(async () => {
    await instances.close();
    await redis.stop();
  });

  it('a burst at 59.5 s and one at 60.5 s admit the limit once, however many gateways they go to', async () => {
    const { gateways } = instances;
    const { key } = await (gateways[0] as TestGateway).issueKey();
    const burst = async () => {
      const asked = Array.from({ length: 150 }, (_, client) =>
        askWith(key, gateways[client % gateways.length] as TestGateway),
      );
      return (await Promise.all(asked)).filter(({ status }) => status === 200).length;
    };
    await sleep((119_500 - (Date.now() % 60_000)) % 60_000);
    const late = await burst();
    await sleep(60_500 - (Date.now() % 60_000));
    assert.deepEqual([late, await burst()], [100, 0]);
  });
});
