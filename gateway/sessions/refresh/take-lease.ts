// Asks the store for a lease. If the reply is lost, this process may hold a lease without knowing it: it gives that lease back.

import type { Machine } from '../../shared/machine.ts';
import type { RefreshTake, Session, SessionRefreshes } from '../store/session-store.ts';
import { LEASE_MS } from './held-lease.ts';
import type { Settler } from './settle.ts';

const ATTEMPTS = 3;
const PAUSE_MS = 400;
/** The store takes no lease for a call that is on its way for longer. */
const LATEST_MS = 1500;
const GIVE_BACK_FOR_MS = 60_000;

interface TakeLeaseOptions {
  readonly refreshes: Pick<SessionRefreshes, 'take' | 'release'>;
  reuseMsOf(session: Session): number;
  /** The clock of the store. */
  nowMs(): number;
  readonly settler: Settler;
  readonly machine: Pick<Machine, 'sleep'>;
}

/** Returns a function that rejects if the store is away. */
export function createTakeLease({ refreshes, reuseMsOf, nowMs, settler, machine: { sleep } }: TakeLeaseOptions) {
  /** It has redeemed nothing. No call is in progress when it gives the lease back. */
  async function releaseLater({ hash, generation }: Session, owner: string): Promise<void> {
    await sleep(2 * LATEST_MS, { ref: false });
    await settler.settle(() => refreshes.release({ hash, generation, owner, fence: 0, reuseMs: 0 }), GIVE_BACK_FOR_MS);
  }

  /** Repeated with the same owner, it gives the same lease: a reply that was lost does no harm. */
  return async function takeLease(session: Session, owner: string): Promise<RefreshTake> {
    for (let attempt = 1; ; attempt += 1) {
      const terms = { forMs: LEASE_MS, notAfterMs: nowMs() + LATEST_MS, reuseMs: reuseMsOf(session) };
      try {
        return await refreshes.take(session, owner, terms);
      } catch (error) {
        if (attempt === ATTEMPTS) {
          void releaseLater(session, owner);
          throw error;
        }
        await sleep(PAUSE_MS, { ref: false });
      }
    }
  };
}
