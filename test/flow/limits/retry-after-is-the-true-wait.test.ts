// A client alone that waits for Retry-After is admitted; one that comes back a second earlier is not. Through the whole gateway, in real
// time.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';

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

async function refusedThenAdmitted(environment: Record<string, string>): Promise<void> {
  const gateway = await startGateway({
    ...thingsAt(upstream.url),
    limits: { tiers: { standard: { requests: 2, windowSeconds: 3 } } },
    environment,
  });
  try {
    await waitAndSee(gateway);
  } finally {
    await gateway.stop();
  }
}

async function waitAndSee(gateway: TestGateway): Promise<void> {
  const { authorization } = await gateway.authorize();
  const call = () => ask(gateway.port, requestOf('GET /v1/things', { Authorization: authorization }));
  const told = (answer: Answer) => [answer.status, Number(answer.headers['retry-after'])];
  await call();
  await sleep(1100);
  await call();

  // The first unit is free again in a little less than two seconds, so a busy machine has the rest of a second to be late by.
  const refused = await call();
  const refusedAt = performance.now();
  const [status, retryAfter = 0] = told(refused);
  assert.equal(status, 429);
  assert.ok(retryAfter >= 1 && retryAfter <= 2, `Retry-After: ${retryAfter}`);
  assert.equal(refused.headers.ratelimit, `"organization";r=0;t=${retryAfter}`);

  await sleep((retryAfter - 1) * 1000 - (performance.now() - refusedAt));
  assert.deepEqual(told(await call()), [429, 1], 'a second too early');
  await sleep(retryAfter * 1000 - (performance.now() - refusedAt));
  assert.equal((await call()).status, 200, 'on time');
}

describe('waiting exactly for Retry-After admits, and a second less does not', {
  concurrency: true,
}, () => {
  it('with counters in the process', () => refusedThenAdmitted({}));
  it('with counters in Redis', () => refusedThenAdmitted({ REDIS_URL: redis.url }));
});
