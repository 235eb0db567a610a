// The interface of the stores for secrets that the gateway itself creates, and the store in Redis, which keeps a copy of each secret.

import type { Awaitable } from '../../shared/awaitable.ts';

/** Every implementation must give concurrent processes the same value, and never a partly written one. */
export interface GeneratedSecrets {
  read(entry: string): Awaitable<string | undefined>;
  /** Stores a new value, unless the entry exists. Returns the value in force. */
  make(entry: string, value: string): Awaitable<string>;
  /** Stores a value that was in use before, unless the entry exists. Returns the value in force. */
  restore(entry: string, value: string): Awaitable<string>;
  /** Replaces `former` by `value`. Returns false and writes nothing if `former` is not the current value. */
  replace(entry: string, former: string, value: string): Awaitable<boolean>;
}

/** Copies of secrets, for the case that the original is lost. */
export interface SecretCopies {
  read(entry: string): string | undefined;
  /** Writes a copy. Ignores failures, because the original still exists. */
  put(entry: string, value: string): void;
}

/**
 * Creates the store of secrets in Redis. It keeps a copy of each secret in the data directory, because Redis can lose its data, and without
 * the pepper all API keys would be invalid. Each process that still has a lost secret restores it.
 *
 * `shared` is authoritative. A lost secret is restored from the memory of this process, or from `copies`. `former` contains the secrets of
 * a data directory that was used without Redis before. These secrets move to Redis, so that exported keys stay valid in the new store.
 */
export function createBackedUpSecrets(
  shared: GeneratedSecrets,
  copies: SecretCopies,
  former: Pick<GeneratedSecrets, 'read'>,
): GeneratedSecrets {
  const known = new Map<string, string>();

  function keep(entry: string, value: string): string {
    if (known.get(entry) !== value) {
      known.set(entry, value);
      copies.put(entry, value);
    }
    return value;
  }

  async function recall(entry: string): Promise<string | undefined> {
    return known.get(entry) ?? copies.read(entry) ?? (await former.read(entry));
  }

  /** Restores all known entries, because if one is missing, Redis has probably lost all. */
  async function restore(missing: string): Promise<string | undefined> {
    for (const entry of new Set([...known.keys(), missing])) {
      const value = await recall(entry);
      if (value !== undefined) keep(entry, await shared.restore(entry, value));
    }
    return known.get(missing);
  }

  return {
    async read(entry) {
      const present = await shared.read(entry);
      return present === undefined ? restore(entry) : keep(entry, present);
    },
    make: async (entry, value) => keep(entry, await shared.make(entry, value)),
    restore: async (entry, value) => keep(entry, await shared.restore(entry, value)),
    async replace(entry, former, value) {
      const isReplaced = await shared.replace(entry, former, value);
      if (isReplaced) keep(entry, value);
      return isReplaced;
    },
  };
}
