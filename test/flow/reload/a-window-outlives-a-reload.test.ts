// Requests counted before a reload count after it, in the process and in Redis.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { lookInside, startRedis, type TestRedis } from '../../support/redis.ts';
import { untilRedisDecides } from '../../support/redis-decides.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { saveAndReload } from './files.ts';

const limitsOf = (requests: number, windowSeconds = 60) => ({ tiers: { standard: { requests, windowSeconds } } });

/** The limits of one organization in turn, and how many requests it sends under each. */
const FOLLOWED = [
  { limit: 5, requests: 9 },
  { limit: 8, requests: 9 },
  { limit: 6, requests: 3 },
  { limit: 10, requests: 9 },
];

describe('counters', () => {
  let upstream: ScriptedUpstream;
  let redis: TestRedis;
  before(async () => {
    upstream = await startScriptedUpstream();
    redis = await startRedis();
  });
  after(async () => {
    await upstream.close();
    await redis.stop();
  });
  const start = closesAfterEach();

  /** How many of so many are admitted. */
  async function offer(gateway: TestGateway, authorization: string, count: number): Promise<number> {
    const answers = await Promise.all(
      Array.from({ length: count }, () =>
        ask(gateway.port, requestOf('GET /v1/things', { Authorization: authorization })),
      ),
    );
    for (const { status } of answers) assert.ok(status === 200 || status === 429, String(status));
    return answers.filter(({ status }) => status === 200).length;
  }

  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;

  async function outlastInProcess(): Promise<void> {
    aheadMs += 45_000;
  }

  /** Counters go by the clock of Redis, so it tells until when it keeps them. */
  async function outlastInRedis(): Promise<void> {
    const client = lookInside(redis.url);
    try {
      const [key = ''] = await client.keys(`*rl:{org_longer_${process.pid}}*`);
      await eventually(async () => (await client.pttl(key)) > 25_000);
    } finally {
      client.disconnect();
    }
  }

  const stores = [
    ['the process', () => ({}), outlastInProcess],
    ['Redis', () => ({ REDIS_URL: redis.url }), outlastInRedis],
  ] as const;
  for (const [name, environment, outlast] of stores) {
    it(`in ${name} admit exactly the limit over a reload in the middle of a window`, async () => {
      const options = { ...thingsAt(upstream.url), limits: limitsOf(20), environment: environment() };
      const gateway = await start(startGateway(options));
      const { authorization } = await gateway.authorize({ organization: `org_${process.pid}` });
      assert.equal(await offer(gateway, authorization, 12), 12);
      const offered = offer(gateway, authorization, 20);
      await saveAndReload(gateway, 'config/limits.yaml', { ...limitsOf(20), whenStoreIsAway: 'refuse' });
      assert.equal((await offered) + (await offer(gateway, authorization, 20)), 8);
    });

    it(`in ${name} keep the entries of the shorter window when a reload has lengthened it`, async () => {
      const options = { ...thingsAt(upstream.url), limits: limitsOf(20, 20), environment: environment(), now };
      const gateway = await start(startGateway(options));
      const { authorization } = await gateway.authorize({ organization: `org_longer_${process.pid}` });
      assert.equal(await offer(gateway, authorization, 25), 20);
      await saveAndReload(gateway, 'config/limits.yaml', limitsOf(20, 60));
      // By the shorter window, the counter would be gone.
      await outlast();
      assert.equal(await offer(gateway, authorization, 25), 0);
    });

    it(`in ${name} follow a limit up and down, and drop refusals that only the old limit caused`, async () => {
      const options = { ...thingsAt(upstream.url), limits: limitsOf(5), environment: environment() };
      const gateway = await start(startGateway(options));
      const admitted = await untilRedisDecides(async (round) => {
        const { authorization } = await gateway.authorize({ organization: `org_up_${process.pid}_${round}` });
        const outcome: number[] = [];
        for (const { limit, requests } of FOLLOWED) {
          await saveAndReload(gateway, 'config/limits.yaml', limitsOf(limit));
          outcome.push(await offer(gateway, authorization, requests));
        }
        return { gateways: [gateway], outcome };
      });
      assert.deepEqual(admitted, [5, 3, 0, 2]);
    });
  }
});
