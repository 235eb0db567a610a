// Converts failures of the session store into the refusal that clients get. Throws session_store_unavailable.

import { GatewayError } from '../catalogue/errors.ts';
import type { Awaitable } from '../shared/awaitable.ts';

/** Runs a function on the store. Rejects with session_store_unavailable if the function throws or rejects. */
export async function fromStore<T>(work: () => Awaitable<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw storeAway(cause);
  }
}

/** Returns the refusal for a failure of the store. */
export function storeAway(cause: unknown): GatewayError {
  return cause instanceof GatewayError ? cause : new GatewayError('session_store_unavailable', { cause });
}
