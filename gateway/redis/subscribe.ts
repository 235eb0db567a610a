// Subscribes to announcements on a connection of its own.

import type { Redis } from './client.ts';
import { dropGarbled } from './garbled.ts';

/**
 * Resolves when Redis has confirmed all channels. Rejects after it has begun to replace the connection, which then has to subscribe again: a
 * reply that confirms something else would leave a connection that hears nothing.
 */
export async function subscribeTo(client: Redis, ...channels: readonly string[]): Promise<void> {
  try {
    if ((await client.subscribe(...channels)) === channels.length) return;
    dropGarbled(client, 'a wrong reply to SUBSCRIBE');
    throw new Error('Redis has not confirmed the subscription.');
  } catch (cause) {
    client.disconnect(true);
    throw cause;
  }
}
