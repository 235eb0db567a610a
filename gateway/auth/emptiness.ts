// Finds out whether a key store that was replaced under a running gateway contains no organization, so that no key works until the keys are
// imported. A store that is empty from the start is a new store.

import type { KeyStore } from './store/key-store.ts';

export interface Emptiness {
  /** The store was wiped, restored, or has lost changes. */
  noteReplaced(): void;
  /** Checks whether the replaced store has any organization. Never rejects. */
  check(): Promise<void>;
  /** Whether the store was replaced, and no organization was found in it since. */
  mayLackKeys(): boolean;
  /** Returns when the store was replaced, in epoch milliseconds; undefined unless it was found to be empty since. */
  sinceMs(): number | undefined;
}

export function createEmptiness(organizations: Pick<KeyStore['organizations'], 'list'>, now: () => number): Emptiness {
  let replacedAtMs: number | undefined;
  let isEmpty = false;

  return {
    noteReplaced() {
      replacedAtMs ??= now();
    },
    async check() {
      if (replacedAtMs === undefined) return;
      try {
        isEmpty = (await organizations.list({ limit: 1 })).length === 0;
        if (!isEmpty) replacedAtMs = undefined;
      } catch {
        // The status of the key store reports an outage.
      }
    },
    mayLackKeys: () => replacedAtMs !== undefined,
    sinceMs: () => (isEmpty ? replacedAtMs : undefined),
  };
}
