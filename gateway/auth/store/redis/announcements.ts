// Hears that something was written to the Redis key store, on a connection of its own, which exists once somebody listens.

import { connectRedis, type Redis } from '../../../redis.ts';

export interface Announcements {
  /** Also calls back whenever it begins to listen, since nothing was heard before. */
  subscribe(onAnnounced: () => void): () => void;
  close(): void;
}

export function createAnnouncements(url: string, channel: string): Announcements {
  const listeners = new Set<() => void>();
  let client: Redis | undefined;

  function announce(): void {
    for (const listener of listeners) listener();
  }

  function open(): Redis {
    const opened = connectRedis({
      url,
      // What fails here ends with the connection, and the next one begins again.
      onReady: () => void opened.subscribe(channel).then(announce, () => opened.disconnect(true)),
    });
    opened.on('message', announce);
    return opened;
  }

  return {
    subscribe(onAnnounced) {
      client ??= open();
      listeners.add(onAnnounced);
      return () => void listeners.delete(onAnnounced);
    },
    close() {
      client?.disconnect();
    },
  };
}
