// Logs warnings of events that may happen a thousand times in a minute, each only once in a while.

import type { Log } from './log.ts';

const UNREADABLE_EVERY_MS = 60_000;
const ENTRY_CHARACTERS_MAX = 64;

/**
 * Reports trusted proxies with an unreadable X-Forwarded-For, because all clients behind such a proxy are counted as one address.
 *
 * @param count called each time; the log line appears at most once a minute
 */
export function reportUnreadableForwards(
  { logger }: Pick<Log, 'logger'>,
  count: () => void,
): (entry: string, proxy: string) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (entry, proxy) => {
    count();
    if (performance.now() - loggedAt < UNREADABLE_EVERY_MS) return;
    loggedAt = performance.now();
    logger.warn(
      { proxy, entry: entry.replace(/[^\x20-\x7e]/g, '?').slice(0, ENTRY_CHARACTERS_MAX) },
      'a trusted proxy wrote an X-Forwarded-For entry that is no address: its clients count as one; correct the proxy',
    );
  };
}

const DROPS_TOLD_EVERY_MS = 10_000;

/** Reports dropped connections to Redis, at most once in a while, because a network that damages bytes would fill the log. */
export function createDropWarning({ logger }: Pick<Log, 'logger'>, now: () => number): (reason: string) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return function warnOfDrop(reason) {
    untold += 1;
    if (Math.abs(now() - toldAtMs) < DROPS_TOLD_EVERY_MS) return;
    logger.warn(
      { reason, connections: untold },
      'a connection to Redis was dropped: it gave what Redis cannot have sent',
    );
    toldAtMs = now();
    untold = 0;
  };
}

const FAILING_EVERY_MS = 60_000;

/** A target that stays in use begins to fail, or works again. */
interface TargetChange {
  readonly upstream: string;
  readonly mode: string;
  readonly target: string;
  readonly reason?: string | undefined;
}

/**
 * Logs when a target begins to fail, and when it works again. If its state changes often, it is logged once a minute.
 *
 * @param clock monotonic milliseconds
 */
export function createFailingLog({ logger }: Pick<Log, 'logger'>, clock: () => number) {
  const loggedAtMs = new Map<string, number>();
  /** Targets whose current failures were not logged. */
  const unlogged = new Set<string>();

  return {
    begins(change: TargetChange): void {
      const { upstream, mode, target, reason = 'its requests failed' } = change;
      const key = `${mode} ${upstream} ${target}`;
      const isRecent = clock() - (loggedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < FAILING_EVERY_MS;
      if (isRecent) unlogged.add(key);
      else {
        loggedAtMs.set(key, clock());
        logger.error(change, `target ${target} of the upstream ${upstream} is failing: ${reason}`);
      }
    },
    ends(change: TargetChange): void {
      const { upstream, mode, target } = change;
      if (unlogged.delete(`${mode} ${upstream} ${target}`)) return;
      logger.info(change, `target ${target} of the upstream ${upstream} works again`);
    },
  };
}

const BREAKER_EVERY_MS = 60_000;

/** A change of the circuit breaker of an upstream. */
interface BreakerChange {
  readonly upstream: string;
  readonly mode: string;
  readonly state: 'open' | 'half_open' | 'closed';
}

interface LastLine {
  atMs: number;
  /** Changes since then that were not logged. */
  unlogged: number;
}

/**
 * Logs the changes of circuit breakers. The breaker of an upstream that stays down opens again after every trial, so its line is repeated
 * at most once a minute. Returns a function that logs each change: `open` with its cause, `half_open` never, `closed` only after a logged
 * `open`.
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
      if (last !== undefined && nowMs - last.atMs < BREAKER_EVERY_MS) {
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
