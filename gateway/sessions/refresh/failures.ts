// Delays the next attempt of this process after a refresh has failed, longer with each failure.

const WAIT_MS = { first: 500, longest: 15_000 } as const;
/** Maximum number of sessions whose failures are remembered. Beyond it, the oldest are forgotten. */
const FAILURES_MAX = 10_000;

export interface Failures {
  note(hash: string): void;
  forget(hash: string): void;
  mayTry(hash: string): boolean;
}

export function createFailures(clock: { now(): number }): Failures {
  const failed = new Map<string, { readonly waitMs: number; readonly untilMs: number }>();
  return {
    note(hash) {
      const waitMs = Math.min(2 * (failed.get(hash)?.waitMs ?? WAIT_MS.first / 2), WAIT_MS.longest);
      failed.delete(hash);
      if (failed.size >= FAILURES_MAX) failed.delete(failed.keys().next().value ?? '');
      failed.set(hash, { waitMs, untilMs: clock.now() + waitMs });
    },
    forget: (hash) => void failed.delete(hash),
    mayTry: (hash) => (failed.get(hash)?.untilMs ?? Number.NEGATIVE_INFINITY) <= clock.now(),
  };
}
