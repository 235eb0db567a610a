// Keeps a running gateway on the present set of assertion keys: read anew all the time, because where it lies nobody announces a change.

import type { AssertionKey } from './keys.ts';

/** Every gateway knows a new key after so long, and whoever rotates leaves more time than this before it signs. */
const EVERY_MS = 2000;

export interface FollowOptions {
  /** The set as it is now; the same array for as long as nothing has changed. */
  read(): Promise<readonly AssertionKey[]>;
  use(keys: readonly AssertionKey[]): Promise<void>;
  /** The set cannot be read, or not be used, and the last good one stays. Not called again until the reason changes. */
  onFailure(reason: string): void;
}

/** Answers how to stop it. It keeps no process alive. */
export function followAssertionKeys({ read, use, onFailure }: FollowOptions): () => void {
  let timer = setTimeout(look, EVERY_MS).unref();
  let stopped = false;
  let lastReason: string | undefined;

  async function look(): Promise<void> {
    try {
      const keys = await read();
      if (!stopped) await use(keys);
      lastReason = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!stopped && reason !== lastReason) onFailure(reason);
      lastReason = reason;
    }
    if (!stopped) timer = setTimeout(look, EVERY_MS).unref();
  }

  return function stop() {
    stopped = true;
    clearTimeout(timer);
  };
}
