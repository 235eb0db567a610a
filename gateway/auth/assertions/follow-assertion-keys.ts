// Follows the assertion keys in a running gateway. Polls them, because their source announces no changes.

import type { AssertionKey } from './assertion-keys.ts';

/** The interval after which every gateway uses a new key set. A rotation allows more time than this before the new key signs. */
const EVERY_MS = 2000;

interface FollowOptions {
  /** Reads the current set. Resolves with the same array while the set is unchanged. */
  read(): Promise<readonly AssertionKey[]>;
  use(keys: readonly AssertionKey[]): Promise<void>;
  /** Called when the key set cannot be read or used, once for each reason. The last good set stays in use. */
  onFailure(reason: string): void;
}

/** Returns a function that stops polling. The timer does not keep the process alive. */
export function followAssertionKeys({ read, use, onFailure }: FollowOptions): () => void {
  let timer = setTimeout(poll, EVERY_MS).unref();
  let stopped = false;
  let lastReason: string | undefined;

  async function poll(): Promise<void> {
    try {
      const keys = await read();
      if (!stopped) await use(keys);
      lastReason = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!stopped && reason !== lastReason) onFailure(reason);
      lastReason = reason;
    }
    if (!stopped) timer = setTimeout(poll, EVERY_MS).unref();
  }

  return function stop() {
    stopped = true;
    clearTimeout(timer);
  };
}
