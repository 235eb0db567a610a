// What a request gets while the store of sessions is away. Throws session_store_unavailable.

import { GatewayError } from '../catalogue/errors.ts';
import type { Awaitable } from '../shared/awaitable.ts';

/** Rejects with session_store_unavailable in place of a failure of the store, which may be thrown as well. */
export async function fromStore<T>(work: () => Awaitable<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw storeAway(cause);
  }
}

/** The refusal for a failure of the store. */
export function storeAway(cause: unknown): GatewayError {
  return cause instanceof GatewayError ? cause : new GatewayError('session_store_unavailable', { cause });
}
