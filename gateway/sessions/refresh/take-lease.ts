// Asks the store for a lease. If the reply is lost, this process may hold a lease without knowing it, so it gives that lease back.

import type { Machine } from '../../shared/machine.ts';
import type { RefreshTake, Session, SessionRefreshes } from '../store/session-store.ts';
import { LEASE_MS } from './held-lease.ts';
import type { Settler } from './settle.ts';

const ATTEMPTS = 3;
const PAUSE_MS = 400;
/** The store grants no lease to a call that took longer than this to arrive. */
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

/** Takes the lease of a session. Rejects if the store cannot be reached. */
export type TakeLease = (session: Session, owner: string) => Promise<RefreshTake>;

export function createTakeLease({
  refreshes,
  reuseMsOf,
  nowMs,
  settler,
  machine: { sleep },
}: TakeLeaseOptions): TakeLease {
  /**
   * Gives back a lease that this process may hold without knowing it. No token was sent under this lease. The function waits until the lost
   * call can no longer arrive.
   */
  async function releaseLater({ hash, generation }: Session, owner: string): Promise<void> {
    await sleep(2 * LATEST_MS, { ref: false });
    await settler.settle(() => refreshes.release({ hash, generation, owner, fence: 0, reuseMs: 0 }), GIVE_BACK_FOR_MS);
  }

  /** A repeated call with the same owner returns the same lease, so a lost reply does no harm. */
  return async function takeLease(session, owner) {
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
