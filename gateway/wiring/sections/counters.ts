// The parts that count the instances of the gateway, the requests of callers, and the failures of client addresses.

import { createLiveInstances, type LiveInstances } from '../../auth/live-instances.ts';
import { workingKeysOf } from '../../auth/store/stored-key.ts';
import { placeOfRule } from '../../config/rule-place.ts';
import { type FailureCounters, openFailureCounters } from '../../limits/addresses/failure-counter.ts';
import type { CounterStore } from '../../limits/counters/counter-store.ts';
import { openCounterStore } from '../../limits/counters/open-counter-store.ts';
import { createLimitUsage, type LimitUsage } from '../../limits/limit-usage.ts';
import { logStoreState } from '../../observe/log/store-state.ts';
import { redisStatus } from '../../redis/url.ts';
import type { Parts } from '../parts.ts';
import { operationsServed } from './base.ts';
import type { FirstSections } from './observation.ts';

export interface CountersSection {
  readonly live: LiveInstances;
  /** The counters of requests, for the limits of organizations. */
  readonly requests: CounterStore;
  /** The counters of failures, for the limits of client addresses. */
  readonly failures: FailureCounters;
  readonly limitUsage: LimitUsage;
}

/** Opens the counters. Does not wait for a Redis that cannot be reached. Until Redis is back, the outage policy of limits.yaml decides. */
export async function openCounters(
  { options: { settings, store, now }, base: { inForce, forwardNow }, observation: { log, metrics } }: FirstSections,
  parts: Parts,
): Promise<CountersSection> {
  const live = createLiveInstances(store.instances);
  parts.add({ name: 'live instances', close: live.stop });
  const requests = await openCounterStore({
    settings,
    whenStoreIsAway: () => inForce().config.limits.whenStoreIsAway,
    instances: live.count,
    now: forwardNow,
    onBatch: metrics.limitBatch,
    onChange: logStoreState(log, 'the limits'),
  });
  parts.add({
    name: 'limits',
    status: () => ({ ...redisStatus(settings.redisUrl), limits: requests.status() }),
    close: requests.close,
  });
  const failures = openFailureCounters(settings.redisUrl);
  parts.add({ name: 'failures', close: failures.close });

  const limitUsage = createLimitUsage({
    store: requests,
    rules: () => inForce().config.limits,
    operations: () => operationsServed(inForce()),
    organizationOf: store.organizations.get,
    keysOf: (organization) => workingKeysOf(store, organization, now()),
    placeOf: (rule) => placeOfRule(inForce().config.sources, rule),
  });

  return { live, requests, failures, limitUsage };
}
