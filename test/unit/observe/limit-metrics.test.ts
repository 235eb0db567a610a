import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '@prometheus-io/client';
import type { Trail } from '../../../gateway/exchange/trail.ts';
import { createLimitMetrics } from '../../../gateway/observe/metrics/limit-metrics.ts';

function metricsOf() {
  const registry = new Registry();
  const pressures: string[] = [];
  const metrics = createLimitMetrics(registry, (_trail, { policy, remaining }, pressure) => {
    pressures.push(`${policy} ${remaining} ${pressure}`);
  });

  /** An exchange that found so much left of a limit. */
  function exchange(limit: number, remaining: number, more: Partial<Trail> = {}): void {
    const state = { policy: 'organization', limit, windowSeconds: 60, remaining, resetMs: 1 };
    const limits = { states: [state], tightest: state };
    metrics.decision({ limits, limitSource: 'redis', ...more } as Trail);
  }

  /** The value of a series; undefined if there is none. */
  async function value(series: string): Promise<number | undefined> {
    const line = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }
  return { metrics, exchange, value, pressures };
}

test('near the limit begins above 80 %, for any limit', async () => {
  const { exchange, value } = metricsOf();
  const near = () => value('gateway_rate_limit_near_limit_total{policy="organization"}');
  for (const limit of [5, 10, 35, 100, 1_000]) exchange(limit, limit / 5);
  assert.equal(await near(), 0);
  for (const limit of [5, 10, 35, 100, 1_000]) exchange(limit, limit / 5 - 1);
  assert.equal(await near(), 5);
});

test('a refusal is not near the limit but over it', async () => {
  const { exchange, value } = metricsOf();
  exchange(10, 0, { code: 'rate_limited' });
  exchange(10, 9, { code: 'validation_failed' });
  assert.equal(await value('gateway_rate_limit_near_limit_total{policy="organization"}'), 0);
  assert.equal(await value('gateway_rate_limit_decisions_total{policy="organization",decision="refused"}'), 1);
  assert.equal(await value('gateway_rate_limit_decisions_total{policy="organization",decision="admitted"}'), 1);
});

test('an exchange that ended before its limits were looked at counts nowhere', async () => {
  const { metrics, value } = metricsOf();
  metrics.decision({} as Trail);
  assert.equal(await value('gateway_rate_limit_decisions_by_source_total{source="undefined"}'), undefined);
});

test('a command to the store falls into the bucket of its duration, in seconds', async () => {
  const { metrics, value } = metricsOf();
  metrics.batch(0.4);
  metrics.batch(70);
  const upTo = (seconds: string) => value(`gateway_limit_store_duration_seconds_bucket{le="${seconds}"}`);
  assert.deepEqual([await upTo('0.00025'), await upTo('0.0005'), await upTo('0.05'), await upTo('0.1')], [0, 1, 1, 2]);
});

test('organizations near a limit, over it, over one that is not enforced or no longer near are reported', () => {
  const { exchange, pressures } = metricsOf();
  exchange(10, 5);
  exchange(10, 1);
  exchange(10, 0, { code: 'rate_limited' });
  exchange(10, 7, { rare: { shadowRefusals: ['organization'] } });
  assert.deepEqual(pressures, [
    'organization 5 eased',
    'organization 1 near',
    'organization 0 refused',
    'organization 7 shadow_refused',
    'organization 7 eased',
  ]);
});
