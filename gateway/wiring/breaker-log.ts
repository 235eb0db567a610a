// Log lines of the circuit breakers. A breaker of an upstream that stays down opens again after every trial: its line is repeated at most
// once a minute.

import type { Log } from '../observe/log.ts';
import type { BreakerChange } from '../upstream/target-set.ts';

const REPEATED_MS = 60_000;

interface Told {
  atMs: number;
  /** Changes since then that have no line. */
  untold: number;
}

/**
 * What is returned is told of each change. `open` is logged with its cause, `half_open` never, `closed` when `open` was.
 *
 * @param clock milliseconds that only ever grow
 */
export function createBreakerLog({ logger }: Pick<Log, 'logger'>, clock: () => number) {
  const open = new Map<string, Told>();
  const closing = new Set<string>();

  return function tell(change: BreakerChange): void {
    const key = `${change.mode} ${change.upstream}`;
    const nowMs = clock();
    const told = open.get(key);
    if (change.state === 'open') {
      if (told !== undefined && nowMs - told.atMs < REPEATED_MS) {
        told.untold += 1;
        return;
      }
      open.set(key, { atMs: nowMs, untold: 0 });
      closing.add(key);
      const again = told !== undefined && told.untold > 0 ? { opened_again: told.untold } : {};
      logger.error({ ...change, ...again }, 'the circuit breaker of the upstream is open: requests are refused');
    } else if (change.state === 'closed' && closing.delete(key))
      logger.info(change, 'the circuit breaker of the upstream is closed: requests are sent again');
  };
}
