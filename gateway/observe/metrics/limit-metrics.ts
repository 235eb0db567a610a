// Metrics of the limits: refused and nearly refused requests, the deciding store and its latency. Organizations are never labels, because
// their number is unbounded; `gateway limits show` reports on each.

import type { Registry } from '@prometheus-io/client';
import type { LimitState } from '../../exchange/findings.ts';
import type { Trail } from '../../exchange/trail.ts';
import { memoize } from '../../shared/memoize.ts';
import { registerGauge } from './library-metrics.ts';
import { createCounter, createHistogram } from './series.ts';

export interface LimitGauges {
  /** Returns 1 while the limit store cannot be reached. */
  limitStoreAway(): number;
  /** Returns the outage policy that decides while the store cannot be reached; undefined while it can. */
  limitPolicyInForce(): string | undefined;
}

/** Called for a request that found little or nothing left of a limit, and with `eased` for a request that found enough. */
export type OnPressure = (
  trail: Trail,
  state: LimitState,
  pressure: 'near' | 'refused' | 'shadow_refused' | 'eased',
) => void;

interface LimitMetrics {
  /** Counts the decision of the limit stage on one exchange, if the exchange reached it. */
  decision(trail: Trail): void;
  /** Records one command to the store, in milliseconds from its first request to the verdict. */
  batch(durationMs: number): void;
}

// The bounds in seconds. The store is on the same network and has a deadline of 90 ms.
const BUCKETS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1];

const OUTAGE_POLICIES = ['local', 'allow', 'refuse'];

/** A request that leaves less than a fifth of its tightest limit is counted as near it. */
const NEAR_PART = 5;

export function createLimitMetrics(registry: Registry, onPressure: OnPressure): LimitMetrics {
  const decisions = createCounter(registry, {
    name: 'gateway_rate_limit_decisions_total',
    help: 'Decisions: admitted, refused, and shadow_refused, which are admitted because the limit is not enforced.',
    labelNames: ['policy', 'decision'],
  });
  const nearLimit = createCounter(registry, {
    name: 'gateway_rate_limit_near_limit_total',
    help: 'Admitted requests that found more than 80 % of their tightest limit used.',
    labelNames: ['policy'],
  });
  const sources = createCounter(registry, {
    name: 'gateway_rate_limit_decisions_by_source_total',
    help: 'Decisions by source: the store (such as redis or process), known (a refusal that still holds), or the outage policy while the store is away.',
    labelNames: ['source'],
  });
  const batches = createHistogram(registry, {
    name: 'gateway_limit_store_duration_seconds',
    help: 'Time from the first request of a batch to the verdict of Redis, or of the outage policy in its place.',
    labelNames: [],
    buckets: BUCKETS,
  }).series();
  const seriesOf = memoize((policy: string) => ({
    admitted: decisions(policy, 'admitted'),
    refused: decisions(policy, 'refused'),
    near: nearLimit(policy),
  }));
  const decidedBy = memoize((source: string) => sources(source));

  function noteShadow(trail: Trail, refusals: readonly string[]): void {
    for (const policy of refusals) {
      decisions(policy, 'shadow_refused').value += 1;
      const state = trail.limits?.states.find((one) => one.policy === policy);
      if (state) onPressure(trail, state, 'shadow_refused');
    }
  }

  return {
    decision(trail) {
      const { limits, limitSource, code, rare } = trail;
      if (limitSource !== undefined) decidedBy(limitSource).value += 1;
      if (rare?.shadowRefusals !== undefined) noteShadow(trail, rare.shadowRefusals);
      const tightest = limits?.tightest;
      if (!tightest) return;
      const { admitted, refused, near } = seriesOf(tightest.policy);
      if (code === 'rate_limited') {
        refused.value += 1;
        onPressure(trail, tightest, 'refused');
        return;
      }
      admitted.value += 1;
      if (tightest.remaining * NEAR_PART >= tightest.limit) return onPressure(trail, tightest, 'eased');
      near.value += 1;
      onPressure(trail, tightest, 'near');
    },
    batch: (durationMs) => batches.observe(durationMs / 1000),
  };
}

/** Registers gauges that are read at each scrape. */
export function registerLimitGauges(registry: Registry, sources: LimitGauges): void {
  const away = { name: 'gateway_limit_store_away', help: '1 while limits are decided without their store.' };
  registerGauge(registry, { ...away, aggregator: 'max' }, sources.limitStoreAway);
  const policies = {
    name: 'gateway_limit_store_policy_in_force',
    help: '1 for the outage policy that decides on limits now.',
    labelNames: ['policy'],
  };
  registerGauge(registry, { ...policies, aggregator: 'max' }, () =>
    OUTAGE_POLICIES.map((policy) => [{ policy }, Number(sources.limitPolicyInForce() === policy)] as const),
  );
}
