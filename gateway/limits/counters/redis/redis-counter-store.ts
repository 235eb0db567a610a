// Counters in Redis, shared by all instances. The server that holds the counter decides; while it is unavailable or slow, the configured
// outage policy decides without waiting.

import type { ConnectRedis } from '../../../redis/client.ts';
import { parseRedisUrl } from '../../../redis/url.ts';
import { type Machine, REAL_MACHINE } from '../../../shared/machine.ts';
import type { CounterStore, CounterStoreStatus, OutagePolicy } from '../counter-store.ts';
import { createFallback } from '../fallback.ts';
import { createRefusalCache } from '../refusal-cache.ts';
import { createBatches } from './batches.ts';
import { ClusterServers, type RedisServers, type RedisServersOptions } from './cluster.ts';
import { RedisLink } from './link.ts';

export interface RedisCounterStoreOptions {
  readonly url: string;
  /** The outage policy. It is read at each decision, because the rules can be replaced while the store is in use. */
  readonly whenStoreIsAway: () => OutagePolicy;
  readonly now: () => number;
  readonly onChange?: (status: CounterStoreStatus) => void;
  /** Called after each command with the milliseconds from the arrival of its first request to the decision. */
  readonly onBatch?: (durationMs: number) => void;
  /** The number of instances that share the limits now. Under the outage policy `local`, each instance grants its share. Default: 1. */
  readonly instances?: () => number;
  /** Longest time that a request waits for Redis. The default leaves time to answer within 100 ms of a failure. */
  readonly deadlineMs?: number;
  readonly probeEveryMs?: number;
  /** Replaces the server's clock. */
  readonly serverClock?: () => number;
  readonly connect?: ConnectRedis;
  readonly machine?: Machine;
}

export interface RedisStore extends CounterStore {
  /** Resolves when the first attempt to connect has succeeded or failed; `decide` may be called at any time. */
  readonly firstAttempt: Promise<void>;
}

/** Opens a store for any form of Redis URL. It connects and reconnects by itself. */
export function createRedisCounterStore(options: RedisCounterStoreOptions): RedisStore {
  const { url, now, whenStoreIsAway, onChange, instances = () => 1, deadlineMs = 90, probeEveryMs = 200 } = options;
  const { machine = REAL_MACHINE } = options;
  let since = now();
  let reason: string | undefined = 'not connected yet';
  const servers = openServers({
    url,
    deadlineMs,
    probeEveryMs,
    connect: options.connect,
    machine,
    onChange(why) {
      since = now();
      reason = why;
      onChange?.(status());
    },
  });
  const fallback = createFallback({ now, whenStoreIsAway, instances });
  const refusals = createRefusalCache(() => machine.performance.now());
  const { onBatch, serverClock } = options;
  const decideInBatch = createBatches({ decideByFallback: fallback.decide, refusals, onBatch, serverClock, machine });

  function status(): CounterStoreStatus {
    const up = servers.areUp();
    const policyInForce = up ? undefined : whenStoreIsAway();
    return { kind: 'redis', state: up ? 'up' : 'away', since, policyInForce, reason };
  }

  return {
    decide(charges, memory) {
      const link = servers.linkTo(charges[0]?.counter ?? '');
      if (link === undefined || !link.isUp()) return fallback.decide(charges);
      return (memory && refusals.get(memory)) ?? decideInBatch(link, charges, memory);
    },
    async reset(counters) {
      const link = servers.linkTo(counters[0] ?? '');
      if (link === undefined) throw new Error('no server is known to hold these counters');
      await link.remove(counters);
      refusals.clear();
    },
    async extendExpiry(windowMs) {
      await Promise.all(servers.all().map((link) => link.extendExpiry(windowMs)));
    },
    clearRefusals: refusals.clear,
    status,
    firstAttempt: servers.firstAttempt,
    async close() {
      servers.close();
      await fallback.close();
    },
  };
}

function openServers(options: RedisServersOptions): RedisServers {
  const address = parseRedisUrl(options.url);
  return address?.kind === 'cluster'
    ? new ClusterServers({ ...options, seeds: address.servers })
    : createSingleServer(options);
}

/** Connects to a single server, or to the master that Sentinels name. */
function createSingleServer(options: RedisServersOptions): RedisServers {
  const link = new RedisLink({ ...options, probeKey: () => 'rl:{probe}' });
  return {
    linkTo: () => link,
    all: () => [link],
    areUp: () => link.isUp(),
    firstAttempt: link.firstAttempt,
    close: () => link.close(),
  };
}
