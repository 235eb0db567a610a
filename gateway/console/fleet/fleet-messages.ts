// The messages between the consoles of several gateways, and the Redis channel for them.

import { parseRedisUrl } from '../../redis/url.ts';
import type { FleetInstance } from './fleet-instance.ts';

export type FleetMessage =
  | {
      readonly kind: 'question';
      readonly id: string;
      readonly from: string;
      readonly to: string;
      /** The instance that asks. The others know it from now on, and notice later if it is missing. Earlier versions do not send it. */
      readonly instance?: FleetInstance | undefined;
      readonly question: object;
    }
  | { readonly kind: 'answer'; readonly id: string; readonly instance: FleetInstance; readonly value: unknown }
  | { readonly kind: 'end'; readonly from: string };

/**
 * Returns the name of the channel. It includes the database and the prefix, because Redis delivers messages to all clients of a server.
 */
export function channelOf(url: string): string {
  const address = parseRedisUrl(url);
  if (address?.kind === 'sentinel') return `{gateway}:console:${address.db}`;
  if (address?.kind !== 'server') return '{gateway}:console';
  const { pathname, searchParams } = new URL(url);
  return `${searchParams.get('keyPrefix') ?? ''}{gateway}:console:${Number(pathname.slice(1))}`;
}

/** Parses a message. Returns undefined for any other text, such as a message of another version, which must not end this process. */
export function messageIn(text: string): FleetMessage | undefined {
  try {
    const message = JSON.parse(text) as FleetMessage;
    const parts = partsOf(message);
    return parts.every((part) => typeof part === 'string') ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the members that must be texts. Throws for a message of an unknown shape. */
function partsOf(message: FleetMessage): readonly unknown[] {
  if (message.kind === 'end') return [message.from];
  if (message.kind === 'answer') return [message.id, ...textsOf(message.instance)];
  const { id, from, to, instance } = message;
  return [id, from, to, ...(instance === undefined ? [] : textsOf(instance))];
}

function textsOf({ id, name, version, started_at }: FleetInstance): readonly unknown[] {
  return [id, name, version, started_at];
}
