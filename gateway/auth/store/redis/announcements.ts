// Receives change announcements of the Redis key store on a connection of its own, which is opened with the first subscriber.

import { connectRedis, type Redis } from '../../../redis/client.ts';
import { subscribeTo } from '../../../redis/subscribe.ts';

export interface Announcements {
  /** Also calls back whenever the subscription starts, because earlier announcements were not received. */
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
      // A failure here ends with the connection; the next connection subscribes again.
      onReady: () => void subscribeTo(opened, channel).then(announce, () => undefined),
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
