// Secrets in Redis, with a copy of each in the data directory: a Redis can lose its memory, and with the pepper every key would be lost.
// Whoever still knows a secret puts it back.

import type { MadeSecrets, SecretCopies } from './secrets-made.ts';

/**
 * `shared` decides what is valid; what it has lost comes back from this process or from `copies`. A data directory that was used without
 * Redis before brings its secrets along (`former`), so that its keys can be exported to the new store.
 */
export function createKeptSecrets(
  shared: MadeSecrets,
  copies: SecretCopies,
  former: Pick<MadeSecrets, 'read'>,
): MadeSecrets {
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

  /** One that is missing is a sign that all may be. */
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
