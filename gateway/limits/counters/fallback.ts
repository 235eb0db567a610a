// Decides by the configured outage policy while the shared store cannot be reached.

import { type Charge, type LimitDecision, type OutagePolicy, uncountedDecision } from './counter-store.ts';
import { createProcessStore } from './process-store.ts';

interface FallbackOptions {
  /** The outage policy. It is read at each decision, because the rules can be replaced while the store is in use. */
  readonly whenStoreIsAway: () => OutagePolicy;
  readonly now: () => number;
  /** Number of instances that share the limits now (auth/instance-reports.ts counts them). */
  readonly instances: () => number;
}

interface Fallback {
  /** Counts against the share of this instance, admits, or refuses, as the outage policy says. */
  decide(charges: readonly Charge[]): LimitDecision;
  close(): Promise<void>;
}

/**
 * Creates the fallback. Its local counters are kept after an outage. If they started empty at each outage, a Redis that fails repeatedly
 * would let clients spend the same units several times.
 */
export function createFallback({ now, whenStoreIsAway, instances }: FallbackOptions): Fallback {
  const local = createProcessStore({ now, source: 'local' });
  const shareOf = createShares();
  return {
    decide(charges) {
      const outagePolicy = whenStoreIsAway();
      if (outagePolicy === 'local') return local.decide(shareOf(charges, Math.max(1, instances())));
      return uncountedDecision(outagePolicy === 'allow' ? 'admitted' : 'undecided', now(), outagePolicy);
    },
    close: local.close,
  };
}

interface Share {
  readonly instances: number;
  readonly charges: readonly Charge[];
}

/** Reduces each limit to the share of one instance. The share always admits at least one request. */
function createShares(): (charges: readonly Charge[], instances: number) => readonly Charge[] {
  const known = new WeakMap<readonly Charge[], Share>();
  return function shareOf(charges, instances) {
    if (instances === 1) return charges;
    let share = known.get(charges);
    if (share?.instances !== instances) {
      share = { instances, charges: charges.map((charge) => shareOfCharge(charge, instances)) };
      known.set(charges, share);
    }
    return share.charges;
  };
}

function shareOfCharge(charge: Charge, instances: number): Charge {
  const share = Math.max(charge.cost, Math.floor(charge.requests / instances));
  return { ...charge, requests: Math.min(charge.requests, share) };
}
