// A lease that this process holds, and renews while it waits for the provider. Before the token is sent, the store notes this, because if
// the lease then runs out, another instance must know that the token may have been redeemed.

import type { Machine } from '../../shared/machine.ts';
import { LEASE_MAX_MS } from '../store/record.ts';
import type { RefreshLease, SessionRefreshes } from '../store/session-store.ts';

/**
 * The duration of the lease before the token is sent. It is short, because if its holder dies, another instance can send the token, and
 * nothing is lost.
 */
export const LEASE_MS = 5000;
/**
 * The duration of the lease after the token is sent. It is long, because its holder may only have been paused, and may still get the
 * answer. Without this answer, the session is lost.
 */
const SENT_LEASE_MS = LEASE_MAX_MS;
const RENEW_EVERY_MS = 1000;

export interface HeldLease {
  readonly lease: RefreshLease;
  /** Call it right before the token is sent. Returns false if the token must not be sent. */
  announce(): Promise<boolean>;
  /** Tells the store once more that the token may have been sent. Returns false if another instance has the lease now. */
  announceAgain(): Promise<boolean>;
  /** Whether `announce` has found that another instance has the lease now. */
  isSuperseded(): boolean;
  /** Ends the renewals. */
  letGo(): void;
}

export function holdLease(
  lease: RefreshLease,
  refreshes: Pick<SessionRefreshes, 'renew'>,
  { performance, setInterval, clearInterval }: Pick<Machine, 'performance' | 'setInterval' | 'clearInterval'>,
): HeldLease {
  let sentAt: number | undefined;
  let isSuperseded = false;
  const sentLeaseMs = lease.reuseMs > 0 ? LEASE_MS : SENT_LEASE_MS;
  async function renew(): Promise<boolean> {
    if (sentAt === undefined) return refreshes.renew(lease, LEASE_MS, undefined);
    return refreshes.renew(lease, sentLeaseMs, performance.now() - sentAt);
  }
  const renewal = setInterval(() => void renew().catch(() => undefined), RENEW_EVERY_MS).unref();
  return {
    lease,
    async announce() {
      sentAt = performance.now();
      isSuperseded = !(await renew());
      // A process that was paused does not know which process has the lease now.
      return !isSuperseded && performance.now() - sentAt < sentLeaseMs;
    },
    announceAgain: renew,
    isSuperseded: () => isSuperseded,
    letGo: () => clearInterval(renewal),
  };
}
