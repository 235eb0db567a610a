// A client alone that waits for Retry-After is admitted; one that comes back a second earlier is not. Through the whole gateway, in real
// time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closesAfterAll } from '../../support/closing.ts';
import { type Answer, ask, requestOf, until } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { startRedis } from '../../support/redis.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';

const WINDOW_MS = 3000;

const start = closesAfterAll();
const upstream = await start(startScriptedUpstream());
const redis = await start(startRedis());

async function refusedThenAdmitted(environment: Record<string, string>): Promise<void> {
  const gateway = await startGateway({
    ...thingsAt(upstream.url),
    limits: { tiers: { standard: { requests: 2, windowSeconds: WINDOW_MS / 1000 } } },
    environment,
  });
  try {
    // On a machine that stands still at the wrong time a client sees no refusal, or the outage policy decides.
    let client = 1;
    while (!(await seesBothRefusals(gateway, `org_${client}`))) client += 1;
  } finally {
    await gateway.stop();
  }
}

interface Told extends Pick<Answer, 'status' | 'headers'> {
  readonly source: string;
  /** By the clock that decided: how late the answer was read does not matter. */
  readonly atMs: number;
}

/** Whether a client that asks until it is admitted was told to wait for two seconds, and then for one. */
async function seesBothRefusals(gateway: TestGateway, organization: string): Promise<boolean> {
  const { authorization: Authorization } = await gateway.authorize({ organization });
  async function call(): Promise<Told> {
    const { status, headers } = await ask(gateway.port, requestOf('GET /v1/things', { Authorization }));
    const isOf = ({ request_id }: Record<string, unknown>) => request_id === headers['x-request-id'];
    const line = await until(() => gateway.logLines().find(isOf));
    return { status, headers, source: String(line.limit_source), atMs: Number(line.decided_at) };
  }

  const first = await call();
  await sleep(1100);
  const all = [first, await call()];
  const refused: number[] = [];
  const freeAtMs = first.atMs + WINDOW_MS;
  for (;;) {
    const told = await call();
    all.push(told);
    if (all.some(({ source }) => source === 'local')) return false;
    if (told.atMs >= freeAtMs) {
      assert.equal(told.status, 200, 'on time');
      return refused.includes(2) && refused.includes(1);
    }
    const seconds = Math.ceil((freeAtMs - told.atMs) / 1000);
    assert.deepEqual([told.status, told.headers['retry-after']], [429, String(seconds)], 'too early');
    assert.equal(told.headers.ratelimit, `"organization";r=0;t=${seconds}`);
    refused.push(seconds);
    await sleep(50);
  }
}

describe('waiting exactly for Retry-After admits, and a second less does not', {
  concurrency: true,
}, () => {
  it('with counters in the process', () => refusedThenAdmitted({}));
  it('with counters in Redis', () => refusedThenAdmitted({ REDIS_URL: redis.url }));
});
