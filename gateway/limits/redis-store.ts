// Counters in Redis, shared by all instances. The decisions of one event-loop turn travel as one command; while Redis is
// away or slow, the configured policy decides without waiting.

import { createKnownRefusals, type KnownRefusals } from './known-refusals.ts';
import { createProcessStore } from './process-store.ts';
import { createRedisLink, type RedisLink, type Reply } from './redis-link.ts';
import type { AwayPolicy, Charge, CounterStore, StoreStatus, Verdict } from './store.ts';
import { FIGURES_PER_CHARGE, toVerdict, uncounted } from './verdict.ts';

/** Requests per command. Redis runs nothing else meanwhile, so a burst is cut into pieces of about a millisecond. */
const BATCH_MAX = 256;

export interface RedisStoreOptions {
  readonly url: string;
  /** Asked whenever it matters, so that the rules can be replaced under a living store. */
  readonly whenStoreIsAway: () => AwayPolicy;
  readonly now: () => number;
  readonly onChange?: (status: StoreStatus) => void;
  /** How many instances share the limits: `local` gives each its share. Default 1: the full limit for each. */
  readonly instances?: number;
  /** The longest a request waits for Redis. The default leaves time to answer within 100 ms of a failure. */
  readonly deadlineMs?: number;
  readonly probeEveryMs?: number;
  /** Replaces the server's clock. */
  readonly serverClock?: () => number;
}

export interface RedisStore extends CounterStore {
  /** Resolves when the first attempt to connect has succeeded or failed; decisions can be asked for at any time. */
  readonly opened: Promise<void>;
}

interface Asked {
  readonly charges: readonly Charge[];
  readonly resolve: (verdict: Verdict) => void;
}

interface Batch {
  readonly asked: Asked[];
  readonly keys: string[];
  readonly args: string[];
}

/** A store on one Redis server. It connects by itself and comes back by itself. */
export function createRedisStore(options: RedisStoreOptions): RedisStore {
  const { now, whenStoreIsAway, onChange } = options;
  let since = now();
  let reason: string | undefined = 'not connected yet';
  const link = createRedisLink({
    url: options.url,
    deadlineMs: options.deadlineMs ?? 90,
    probeEveryMs: options.probeEveryMs ?? 200,
    onChange(up, why) {
      since = now();
      reason = up ? undefined : why;
      onChange?.(status());
    },
  });
  const fallback = createFallback(options);
  const refusals = createKnownRefusals(() => performance.now());
  const ask = createBatches(link, fallback.decide, refusals, options.serverClock);

  function status(): StoreStatus {
    const up = link.isUp();
    const policyInForce = up ? undefined : whenStoreIsAway();
    return { kind: 'redis', state: up ? 'up' : 'away', since, policyInForce, reason };
  }

  return {
    decide(charges) {
      if (!link.isUp()) return fallback.decide(charges);
      return refusals.find(charges) ?? ask(charges);
    },
    status,
    opened: link.opened,
    async close() {
      link.close();
      await fallback.close();
    },
  };
}

interface Fallback {
  decide(charges: readonly Charge[]): Verdict;
  close(): Promise<void>;
}

/** Decides by policy. The local counters outlive an outage, so that a Redis that comes and goes hands out nothing twice. */
function createFallback({ now, whenStoreIsAway, instances = 1 }: RedisStoreOptions): Fallback {
  const local = createProcessStore({ now, source: 'local' });
  const shareOf = createShares(instances);
  return {
    decide(charges) {
      const policy = whenStoreIsAway();
      if (policy === 'local') return local.decide(shareOf(charges));
      return uncounted(policy === 'allow' ? 'admitted' : 'undecided', now(), policy);
    },
    close: local.close,
  };
}

/** Gathers what is asked in one event-loop turn into one command. */
function createBatches(
  link: RedisLink,
  decideWithout: (charges: readonly Charge[]) => Verdict,
  refusals: KnownRefusals,
  serverClock: (() => number) | undefined,
): (charges: readonly Charge[]) => Promise<Verdict> {
  const specsOf = createSpecs();
  let open: Batch | undefined;

  async function send({ asked, keys, args }: Batch): Promise<void> {
    try {
      distribute(await link.run(keys, args), asked, refusals);
    } catch {
      for (const { charges, resolve } of asked) resolve(decideWithout(charges));
    }
  }

  function flush(): void {
    const batch = open;
    open = undefined;
    if (batch !== undefined) void send(batch);
  }

  function openBatch(): Batch {
    // setImmediate runs once all sockets of this turn have been read; a microtask would run after each of them.
    setImmediate(flush);
    return { asked: [], keys: [], args: [serverClock === undefined ? '' : String(serverClock())] };
  }

  return function ask(charges) {
    open ??= openBatch();
    const { asked, keys, args } = open;
    for (const charge of charges) keys.push(charge.key);
    for (const spec of specsOf(charges)) args.push(spec);
    const verdict = new Promise<Verdict>((resolve) => asked.push({ charges, resolve }));
    if (asked.length === BATCH_MAX) flush();
    return verdict;
  };
}

/** Hands each request its part of the reply. */
function distribute(reply: Reply, asked: readonly Asked[], refusals: KnownRefusals): void {
  const clockMs = reply[0] as number;
  let offset = 1;
  for (const { charges, resolve } of asked) {
    const decidedAtMs = clockMs + (reply[offset] as number);
    const verdict = toVerdict(charges, reply, offset + 1, decidedAtMs, 'redis');
    refusals.note(charges, verdict);
    resolve(verdict);
    offset += 1 + charges.length * FIGURES_PER_CHARGE;
  }
}

/** Charges as the script reads them, written once per set of charges. */
function createSpecs(): (charges: readonly Charge[]) => readonly string[] {
  const known = new WeakMap<readonly Charge[], readonly string[]>();
  return function specsOf(charges) {
    let specs = known.get(charges);
    if (specs === undefined) {
      specs = charges.map(({ requests, windowMs, cost, enforce }, index) => {
        const last = index === charges.length - 1;
        return `${requests} ${windowMs} ${cost} ${Number(enforce)} ${Number(last)}`;
      });
      known.set(charges, specs);
    }
    return specs;
  };
}

/** The part of each limit that one instance of several may give out on its own. At least one request fits into it. */
function createShares(instances: number): (charges: readonly Charge[]) => readonly Charge[] {
  const known = new WeakMap<readonly Charge[], readonly Charge[]>();
  return function shareOf(charges) {
    if (instances === 1) return charges;
    let shares = known.get(charges);
    if (shares === undefined) {
      shares = charges.map((charge) => {
        const share = Math.max(charge.cost, Math.floor(charge.requests / instances));
        return { ...charge, requests: Math.min(charge.requests, share) };
      });
      known.set(charges, shares);
    }
    return shares;
  };
}
