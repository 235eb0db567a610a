// The recent ends of sessions, in the memory of this process. Ends that the store has lost are written again, and a stream that is opened
// late gets the end of its session.

import type { Awaitable } from '../../shared/awaitable.ts';
import type { EndReason, SessionEnd } from '../store/session-store.ts';

const KEPT_MS = 10 * 60_000;
const KEPT_MAX = 20_000;

interface RecentEnds {
  /** Adds an end. @param ageMs the time since the end */
  note(end: Pick<SessionEnd, 'id' | 'reason'>, ageMs: number): void;
  reasonOf(id: string): EndReason | undefined;
  /** Call it when the store was replaced. All ends that are known here are then written again. */
  repeatAll(): void;
  /** Writes some of the ends that must be written again. Never rejects. An end that could not be written is left for the next call. */
  repeatSome(): Promise<void>;
}

/** @param end ends a session; has no effect if the session has ended */
export function createRecentEnds(
  end: (id: string, reason: EndReason) => Awaitable<unknown>,
  clock: { now(): number },
): RecentEnds {
  const known = new Map<string, { readonly reason: EndReason; readonly atMs: number }>();
  const toRepeat = new Map<string, EndReason>();
  let isRepeating = false;

  function dropOld(): void {
    for (const [id, { atMs }] of known) {
      if (known.size <= KEPT_MAX && clock.now() - atMs <= KEPT_MS) return;
      known.delete(id);
    }
  }

  return {
    note({ id, reason }, ageMs) {
      if (known.has(id) || ageMs > KEPT_MS) return;
      known.set(id, { reason, atMs: clock.now() });
      dropOld();
    },
    reasonOf: (id) => known.get(id)?.reason,
    repeatAll() {
      dropOld();
      for (const [id, { reason }] of known) toRepeat.set(id, reason);
    },
    async repeatSome() {
      if (isRepeating) return;
      isRepeating = true;
      try {
        for (const [id, reason] of toRepeat) {
          await end(id, reason);
          toRepeat.delete(id);
        }
      } catch {
        // The store cannot be reached.
      }
      isRepeating = false;
    },
  };
}
