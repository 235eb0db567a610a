// The parts that count: the instances of the gateway, the requests of callers, the failures of client addresses.

import { createLiveInstances } from '../../auth/live-instances.ts';
import { liveKeysOf } from '../../auth/organization-search.ts';
import { openFailureCounters } from '../../limits/failure-counter.ts';
import { openCounterStore } from '../../limits/open-counter-store.ts';
import { createLimitUsage } from '../../limits/usage.ts';
import { logStoreState } from '../../observe/log.ts';
import type { Parts } from '../../parts.ts';
import { redisStatus } from '../../redis/url.ts';
import { type BaseSection, operationsServed } from './base.ts';
import type { ObservationSection } from './observation.ts';

export type CountersSection = Awaited<ReturnType<typeof openCounters>>;

/** Does not wait for a Redis that is away: the rule of limits.yaml decides meanwhile. */
export async function openCounters(
  { settings, store, inForce, forwardNow, now, log, metrics }: BaseSection & ObservationSection,
  parts: Parts,
) {
  const live = createLiveInstances(store.instances);
  parts.add({ name: 'live instances', close: live.stop });
  const counters = await openCounterStore({
    settings,
    whenStoreIsAway: () => inForce().config.limits.whenStoreIsAway,
    instances: live.count,
    now: forwardNow,
    onBatch: metrics.limitBatch,
    onChange: logStoreState(log, 'limits'),
  });
  parts.add({
    name: 'limits',
    status: () => ({ ...redisStatus(settings.redisUrl), limits: counters.status() }),
    close: counters.close,
  });
  const failures = openFailureCounters(settings.redisUrl);
  parts.add({ name: 'failures', close: failures.close });

  const limitUsage = createLimitUsage({
    store: counters,
    rules: () => inForce().config.limits,
    operations: () => operationsServed(inForce()),
    organizationOf: store.organizations.get,
    keysOf: (organization) => liveKeysOf(store, organization, now()),
  });

  return { live, counters, failures, limitUsage };
}
