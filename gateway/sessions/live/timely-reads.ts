// Decides whether what this process knows about a session is recent enough. A cached session is accepted only shortly after the ends were
// read, and an answer of the store only if it came in time.

import type { Awaitable } from '../../shared/awaitable.ts';
import type { Machine } from '../../shared/machine.ts';
import type { ChangeFollower } from '../../shared/stores/change-follower.ts';
import type { Session, SessionEnd, SessionStore } from '../store/session-store.ts';
import type { StoreClock } from './store-clock.ts';

/**
 * The time within which every instance learns that a session has ended. An instance that could not read the ends reads the session from the
 * store. This is not a setting, because it is a promise to operators.
 */
const ENDS_WITHIN_MS = 1000;

interface TimelyReadsOptions {
  readonly store: Pick<SessionStore, 'find' | 'nowMs'>;
  readonly clock: StoreClock;
  readonly follower: Pick<ChangeFollower<SessionEnd>, 'readAtMs' | 'readAt'>;
  readonly machine: Pick<Machine, 'now' | 'performance'>;
}

export interface TimelyReads {
  /** Whether the ends were read recently enough to accept cached sessions. Returns false if the wall clock was set back. */
  mayUseCache(): boolean;
  /** Finds a session in the store. Rejects if the answer comes too late, because the session may have ended since. */
  find(hash: string): Awaitable<Session | undefined>;
}

export function createTimelyReads({ store, clock, follower, machine }: TimelyReadsOptions): TimelyReads {
  const { now, performance } = machine;

  /** Both clocks have to agree, because the monotonic clock is paused while the machine sleeps, and the wall clock may be set. */
  function isRecent(atMs: number, at: number): boolean {
    const sinceMs = now() - atMs;
    if (sinceMs < 0 || sinceMs > ENDS_WITHIN_MS) return false;
    return performance.now() - at <= ENDS_WITHIN_MS;
  }

  const mayUseCache = () => isRecent(follower.readAtMs(), follower.readAt());

  /** Finds a session, and reads the clock of the store, because the estimate is old if the machine was suspended since the last read. */
  async function findWithTime(hash: string): Promise<Session | undefined> {
    const time = clock.reading(async () => ({ nowMs: await store.nowMs() }));
    const [found] = await Promise.all([store.find(hash), time]);
    return found;
  }

  /** The answer is too old if the process was paused before it arrived. */
  async function inTime(found: Promise<Session | undefined>): Promise<Session | undefined> {
    const [atMs, at] = [now(), performance.now()];
    const session = await found;
    if (!isRecent(atMs, at)) throw new Error('the session store answered too late');
    return session;
  }

  return {
    mayUseCache,
    find(hash) {
      const found = mayUseCache() ? store.find(hash) : findWithTime(hash);
      return found instanceof Promise ? inTime(found) : found;
    },
  };
}
