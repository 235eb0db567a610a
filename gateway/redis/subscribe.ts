// Subscribes to Redis channels on a separate connection, and again after each reconnect.

import type { Awaitable } from '../shared/awaitable.ts';
import { type ConnectRedis, connectRedis } from './client.ts';
import { dropGarbled } from './garbled.ts';

interface Subscription {
  /** See `parseRedisUrl`. */
  readonly url: string;
  /** Returns the names of the channels. It is called after each connect. */
  channels(): Awaitable<readonly string[]>;
  onMessage(channel: string, text: string): void;
  /** Called after each connect, when Redis has confirmed all channels. Messages that were published before may be lost. */
  onSubscribed?(): void;
  readonly connect?: ConnectRedis | undefined;
}

/** Connects at once, and subscribes after each connect. Returns a function that ends the subscription. */
export function subscribe({
  url,
  channels,
  onMessage,
  onSubscribed,
  connect = connectRedis,
}: Subscription): () => void {
  const client = connect({ url, onReady: () => void begin() });
  client.on('message', onMessage);

  async function begin(): Promise<void> {
    try {
      const names = await channels();
      if ((await client.subscribe(...names)) !== names.length) {
        // With a channel missing, this connection would get no messages.
        dropGarbled(client, 'a wrong reply to SUBSCRIBE');
        throw new Error('Redis has not confirmed the subscription.');
      }
    } catch {
      // The next connection subscribes again.
      client.disconnect(true);
      return;
    }
    onSubscribed?.();
  }

  return () => client.disconnect();
}
