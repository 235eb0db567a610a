// Reports trusted proxies with an unreadable X-Forwarded-For: all clients behind such a proxy count as one address.

import type { Log } from '../observe/log.ts';

const LOGGED_EVERY_MS = 60_000;
const ENTRY_CHARACTERS_MAX = 64;

/** @param count called each time; the log line appears at most once a minute */
export function reportUnreadableForwards({ logger }: Log, count: () => void): (entry: string, proxy: string) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (entry, proxy) => {
    count();
    if (performance.now() - loggedAt < LOGGED_EVERY_MS) return;
    loggedAt = performance.now();
    logger.warn(
      { proxy, entry: entry.replace(/[^\x20-\x7e]/g, '?').slice(0, ENTRY_CHARACTERS_MAX) },
      'a trusted proxy wrote an X-Forwarded-For entry that is no address: its clients count as one; correct the proxy',
    );
  };
}
