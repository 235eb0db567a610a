// Log lines of the circuit breakers. The breaker of an upstream that stays down opens again after every trial, so its line is repeated at
// most once a minute.

import type { Log } from '../observe/log.ts';
import type { BreakerChange } from '../upstream/target-set.ts';

const REPEATED_MS = 60_000;

interface LastLine {
  atMs: number;
  /** Changes since then that were not logged. */
  unlogged: number;
}

/**
 * Returns a function that logs each change: `open` with its cause, `half_open` never, `closed` only after a logged `open`.
 *
 * @param clock monotonic milliseconds
 */
export function createBreakerLog({ logger }: Pick<Log, 'logger'>, clock: () => number) {
  const open = new Map<string, LastLine>();
  const closing = new Set<string>();

  return function logChange(change: BreakerChange): void {
    const key = `${change.mode} ${change.upstream}`;
    const nowMs = clock();
    const last = open.get(key);
    if (change.state === 'open') {
      if (last !== undefined && nowMs - last.atMs < REPEATED_MS) {
        last.unlogged += 1;
        return;
      }
      open.set(key, { atMs: nowMs, unlogged: 0 });
      closing.add(key);
      const again = last !== undefined && last.unlogged > 0 ? { opened_again: last.unlogged } : {};
      logger.error({ ...change, ...again }, 'the circuit breaker of the upstream is open: requests are refused');
    } else if (change.state === 'closed' && closing.delete(key))
      logger.info(change, 'the circuit breaker of the upstream is closed: requests are sent again');
  };
}
