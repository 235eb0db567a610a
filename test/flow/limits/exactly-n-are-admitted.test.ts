// The promise of the limits, through the whole gateway: with 50 clients at once exactly the tier's number of requests is admitted in a
// minute, in one process and over instances that share a Redis.

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { closesAfterAll } from '../../support/closing.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { startRedis } from '../../support/redis.ts';
import { untilRedisDecides } from '../../support/redis-decides.ts';
import { startUpstream } from '../../support/upstream.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
}

/** A thousand requests, as the shipped tier premium has them, in the full run. */
const tiers = {
  standard: { requests: 100, windowSeconds: 60 },
  premium: { requests: LIMIT_RUNS > 1 ? 1000 : 300, windowSeconds: 60 },
};
/** Requests above the limit. */
const EXCESS = 50;
const run = String(process.pid);

const opened = closesAfterAll();
const upstream = await opened(startUpstream());
const redis = await opened(startRedis());

function start(environment: Record<string, string> = {}): Promise<TestGateway> {
  return startGateway({
    upstreams: { platform: { contracts: ['v1/*.yaml'], live: upstream.url } },
    limits: { tiers },
    environment,
  });
}

/** 50 clients, each with a connection of its own, sending one request after another. */
async function offer(gateways: readonly TestGateway[], keys: readonly string[], total: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  let left = total;
  const client = async (index: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const gateway = gateways[index % gateways.length] as TestGateway;
    const authorization = `Bearer ${keys[index % keys.length]}`;
    while (left-- > 0) answers.push(await get(`${gateway.url}/v1/customers`, authorization, agent));
    agent.destroy();
  };
  await Promise.all(Array.from({ length: 50 }, (_, index) => client(index)));
  return answers;
}

function get(url: string, authorization: string, agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { authorization }, agent }, (answer) => {
      answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers }));
    })
      .on('error', reject)
      .end();
  });
}

function assertExactly(answers: readonly Answer[], admitted: number): void {
  assert.equal(answers.filter(({ status }) => status === 200).length, admitted);
  const refused = answers.filter(({ status }) => status !== 200);
  assert.equal(refused.length, answers.length - admitted);
  for (const { status, headers } of refused) {
    assert.equal(status, 429);
    const wait = Number(headers['retry-after']);
    assert.ok(wait >= 1 && wait <= 60, `Retry-After ${wait}`);
    assert.equal(headers.ratelimit, `"organization";r=0;t=${wait}`);
    assert.equal(headers['ratelimit-policy'], `"organization";q=${admitted};w=60`);
    assert.equal(headers['x-ratelimit-remaining'], '0');
  }
}

describe('in one process', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await start();
  });
  after(() => gateway.stop());

  for (const [tier, { requests }] of Object.entries(tiers)) {
    it(`exactly ${requests} requests of a ${tier} organization are admitted, over all its keys`, async () => {
      const organization = `org_${tier}`;
      const keys = [];
      for (let index = 0; index < 3; index++) keys.push((await gateway.issueKey({ organization, tier })).key);
      assertExactly(await offer([gateway], keys, requests + EXCESS), requests);
      const stranger = (await gateway.issueKey({ organization: `org_stranger_${tier}`, tier })).key;
      assertExactly(await offer([gateway], [stranger], 1), 1);
    });
  }

  it('the headers of an admitted request count down, and say when the next unit is freed', async () => {
    const { key } = await gateway.issueKey({ organization: 'org_headers', tier: 'standard' });
    const [answer] = (await offer([gateway], [key], 1)) as [Answer];
    assert.equal(answer.headers['ratelimit-policy'], '"organization";q=100;w=60');
    assert.equal(answer.headers.ratelimit, '"organization";r=99;t=60');
    assert.equal(answer.headers['x-ratelimit-limit'], '100');
    assert.equal(answer.headers['x-ratelimit-remaining'], '99');
    const reset = Number(answer.headers['x-ratelimit-reset']) - Date.now() / 1000;
    assert.ok(reset > 57 && reset < 62, `${reset}`);
  });
});

describe('over two instances and one Redis', () => {
  let first: TestGateway;
  let second: TestGateway;
  before(async () => {
    first = await start({ REDIS_URL: redis.url });
    second = await start({ REDIS_URL: redis.url });
  });
  after(async () => {
    await first.stop();
    await second.stop();
  });

  for (const [tier, { requests }] of Object.entries(tiers)) {
    it(`exactly ${requests} requests of a ${tier} organization are admitted in all`, async () => {
      const gateways = [first, second];
      const answers = await untilRedisDecides(async (round) => {
        // The same organization on both: its counter is named after it, wherever its key lies.
        const organization = `org_${tier}_${run}_${round}`;
        const keys = [
          (await first.issueKey({ organization, tier })).key,
          (await second.issueKey({ organization, tier })).key,
        ];
        return { gateways, outcome: await offer(gateways, keys, requests + EXCESS) };
      });
      assertExactly(answers, requests);
    });
  }
});
