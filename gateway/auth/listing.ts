// Determines since when the store lists this gateway for sure. A replica of Redis that takes over lacks the latest reports. After an
// outage, a gateway may therefore be in contact with the store again, and be forgotten all the same.

import type { Machine } from '../shared/machine.ts';

/** A Redis replica that takes over may lack the reports of the last 10 seconds (the default of `min-replicas-max-lag`). */
export const REPLICA_LAG_MS = 10_000;
/** Clocks of servers that take over for each other differ. */
const CLOCKS_DIFFER_MS = 1000;

/**
 * When a report was sent, by both clocks, because the monotonic clock stands still while the machine sleeps, and the wall clock may be set.
 */
interface ReportTime {
  readonly atMs: number;
  readonly at: number;
}

interface Report extends ReportTime {
  /** The id of the server that took it, which each failover changes; empty if the store tells none. */
  readonly server: string;
}

interface ListingOptions extends Pick<Machine, 'now' | 'performance'> {
  /** How long the store lists this gateway after a report. */
  readonly listedMs: number;
  readonly reportedEveryMs: number;
}

export interface InstanceListing {
  /** Call it before a report is sent. Returns the time for `noteReport`. */
  sending(): ReportTime;
  /** Call it when a report has arrived. Returns whether the store had, or may have, forgotten this gateway before. */
  noteReport(sent: Report): boolean;
  /** Returns the beginning of the listing, by `performance.now()`; Infinity if the store may have forgotten this gateway. */
  since(): number;
}

export function createListing({ listedMs, reportedEveryMs, now, performance }: ListingOptions): InstanceListing {
  /**
   * The latest report that a replica has for sure when it takes over, and the reports after it, oldest first. These later reports are
   * dropped when another server may have taken over, because that server may lack them.
   */
  let reports: readonly Report[] = [];
  let since = Number.POSITIVE_INFINITY;

  function isListed(): boolean {
    const [kept] = reports;
    if (kept === undefined) return false;
    const longest = listedMs - CLOCKS_DIFFER_MS;
    return now() - kept.atMs <= longest && performance.now() - kept.at <= longest;
  }

  return {
    sending: () => ({ atMs: now(), at: performance.now() }),
    noteReport(sent) {
      const [kept] = reports;
      const last = reports.at(-1);
      const lastAt = last?.at ?? Number.NEGATIVE_INFINITY;
      const isOther = sent.server !== last?.server;
      // Without an id, another server may have taken over during a longer pause.
      const isBroken = isOther || (sent.server === '' && sent.at - lastAt > 2 * reportedEveryMs);
      // A server that has just taken over may lack the latest reports to the server before it.
      const mayLackKept = isBroken && (lastAt < since || (isOther && lastAt - (kept?.at ?? 0) < REPLICA_LAG_MS));
      if (kept === undefined || mayLackKept || !isListed()) {
        // The cache of a process that has just started has few entries. Not trusting it would cost a look-up for each request.
        since = performance.now() + (kept === undefined ? 0 : REPLICA_LAG_MS);
        reports = [sent];
        return true;
      }
      if (isBroken) reports = [kept];
      if (sent.at - lastAt >= reportedEveryMs / 2) reports = [...reports, sent];
      const first = reports.findLastIndex(({ at }) => sent.at - at >= REPLICA_LAG_MS);
      if (first > 0) reports = reports.slice(first);
      return false;
    },
    since: () => (isListed() ? since : Number.POSITIVE_INFINITY),
  };
}
