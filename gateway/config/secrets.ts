// Reads secrets from files, otherwise from the environment. Missing secrets that only have to be the same everywhere are created once, in
// Redis or in the data directory. Error messages never contain a value.

import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Ed25519Jwk, newAssertionKey, parseAssertionKeys, printAssertionKeys } from './secrets/assertion-keys.ts';
import { createBackedUpSecrets, type GeneratedSecrets } from './secrets/generated-secrets.ts';
import { type OperatorToken, operatorTokensIn } from './secrets/operator-tokens.ts';
import { createSecretCopies, createSecretsDirectory, readSecretFile } from './secrets/secrets-directory.ts';
import { createSecretsInRedis } from './secrets/secrets-redis.ts';

const ENTRY = /^[a-z][a-z0-9_]{0,63}$/;
const LENGTH_MIN = 16;
const PATIENCE_MS = 5000;
/**
 * The largest number of attempts to change the set. An attempt fails only if another process has changed the set meanwhile, which never
 * happens so often.
 */
const CHANGE_ATTEMPTS = 20;

export interface Secrets {
  /** Returns the current value, for which files are read each time; undefined if the entry does not exist. Throws an Error. */
  read(entry: string): string | undefined;
  /**
   * Returns the time at which the file of an entry was last written, in epoch milliseconds; undefined for an entry without a file. May
   * throw.
   */
  writtenAt(entry: string): number | undefined;
  /**
   * Returns the value from the secrets store, or the value that the gateway has created in the data directory; undefined if there is
   * neither. Creates nothing, and does not read Redis. Throws as `read` does.
   */
  findValue(entry: string): string | undefined;
  /** Returns the secret of key digests. This method and the methods below reject if the secret is unavailable. */
  keyPepper(): Promise<string>;
  /** Returns the entry, or creates a random one, for an upstream on the sandbox, which needs no configured secret. */
  readOrMake(entry: string): Promise<string>;
  /** Returns the secret of the sandbox's cursors. */
  cursorSecret(): Promise<string>;
  /** Returns the current keys, as the same array until they change. */
  assertionKeys(): Promise<readonly Ed25519Jwk[]>;
  /**
   * Replaces the current set by the result of `change`. Calls `change` again if another process has replaced the set meanwhile. Rejects if
   * the gateway did not create the set itself.
   */
  changeAssertionKeys(
    change: (present: readonly Ed25519Jwk[]) => readonly Ed25519Jwk[],
  ): Promise<readonly Ed25519Jwk[]>;
  /** Restores the entries that Redis has lost. */
  restoreLost(): Promise<void>;
  /** Returns the entries that this process has read from Redis or created there. */
  foundInRedis(): readonly string[];
}

interface SecretsOptions {
  /** The directory with one file per entry, which has priority over the environment. */
  readonly directory?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dataDirectory: string;
  /** The Redis for secrets that the gateway creates; undefined if they are kept in the data directory. */
  readonly redisUrl?: string | undefined;
}

/** Opens the secrets. No secret is read in advance, because each entry is read or created on first use. */
export function loadSecrets({ directory, environment, dataDirectory, redisUrl }: SecretsOptions): Secrets {
  const generatedIn = join(dataDirectory, 'secrets');
  const made =
    redisUrl === undefined
      ? createSecretsDirectory(generatedIn)
      : createBackedUpSecrets(
          createSecretsInRedis({ url: redisUrl, patienceMs: PATIENCE_MS }),
          createSecretCopies(join(generatedIn, 'shared')),
          createSecretsDirectory(generatedIn),
        );
  const foundInRedis = new Set<string>();

  function read(entry: string): string | undefined {
    if (!ENTRY.test(entry)) {
      throw new Error(
        `The secrets entry "${entry}" is misspelled: names are lower-case letters, digits and underscores.`,
      );
    }
    const fromFile = directory === undefined ? undefined : readSecretFile(directory, entry);
    // An empty variable is treated as unset, because Compose files set variables that are unset outside to the empty text.
    return fromFile ?? (environment[entry.toUpperCase()] || undefined);
  }

  async function readOrMake(entry: string, make: () => string): Promise<string> {
    const given = read(entry);
    if (given !== undefined) return given;
    const value = (await made.read(entry)) ?? (await made.make(entry, make()));
    if (redisUrl !== undefined) foundInRedis.add(entry);
    return value;
  }

  async function readLongEnough(entry: 'key_pepper' | 'cursor_secret'): Promise<string> {
    const value = await readOrMake(entry, newSecret);
    const problem = ownSecretProblem(entry, value);
    if (problem === undefined) return value;
    throw new Error(problem);
  }

  const assertionKeys = createAssertionKeySet(read, readOrMake, made);

  return {
    read,
    writtenAt: (entry) =>
      directory === undefined ? undefined : statSync(join(directory, entry), { throwIfNoEntry: false })?.mtimeMs,
    findValue: (entry) => read(entry) ?? (redisUrl === undefined ? readSecretFile(generatedIn, entry) : undefined),
    readOrMake: (entry) => readOrMake(entry, newSecret),
    keyPepper: () => readLongEnough('key_pepper'),
    cursorSecret: () => readLongEnough('cursor_secret'),
    assertionKeys: assertionKeys.read,
    changeAssertionKeys: assertionKeys.change,
    async restoreLost() {
      // Reading one missing entry restores all entries.
      const [any] = foundInRedis;
      if (any !== undefined) await made.read(any);
    },
    foundInRedis: () => [...foundInRedis].sort(),
  };
}

/** The set of keys that sign assertions. It is parsed again only if its text has changed. */
function createAssertionKeySet(
  readGiven: Secrets['read'],
  readOrMake: (entry: string, make: () => string) => Promise<string>,
  made: Pick<GeneratedSecrets, 'replace'>,
) {
  let parsed: { readonly text: string; readonly keys: readonly Ed25519Jwk[] } | undefined;

  async function readSet() {
    // A set that Redis has lost is restored from the memory of this process. Upstreams would not yet know the keys of a new set.
    const text = await readOrMake('assertion_keys', () => parsed?.text ?? printAssertionKeys([newAssertionKey()]));
    if (parsed?.text !== text) parsed = { text, keys: parseAssertionKeys(text) };
    return parsed;
  }

  return {
    read: async () => (await readSet()).keys,
    async change(change: (present: readonly Ed25519Jwk[]) => readonly Ed25519Jwk[]) {
      if (readGiven('assertion_keys') !== undefined) {
        throw new Error(
          'The secrets entry assertion_keys comes from SECRETS_DIR or the environment, where the gateway does not write. Print the new set with `bin/gateway assertion-keys rotate --print` and put it there.',
        );
      }
      for (let attempt = 0; attempt < CHANGE_ATTEMPTS; attempt++) {
        const present = await readSet();
        const keys = change(present.keys);
        if (await made.replace('assertion_keys', present.text, printAssertionKeys(keys))) return keys;
      }
      throw new Error('The secrets entry assertion_keys keeps being changed by other processes.');
    },
  };
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The secrets that each gateway needs, and puts into Redis if it finds them nowhere else. */
export const SHARED_SECRETS = ['key_pepper', 'assertion_keys'] as const satisfies readonly OwnSecret[];

/** A secret of the gateway itself. The gateway creates missing secrets, except the tokens of operators. */
export type OwnSecret =
  | 'key_pepper'
  | 'cursor_secret'
  | 'assertion_keys'
  | 'admin_token'
  | 'viewer_token'
  | 'operator_tokens';

export interface OperatorSecrets {
  readonly admin: string | undefined;
  readonly viewer: string | undefined;
  readonly named: readonly OperatorToken[];
}

/**
 * Returns the tokens of operators. `admin_token` may act, `viewer_token` may look, and the line of a named operator says which of the two
 * the operator may do. Throws as `read` does.
 */
export function adminTokensIn({ read }: Pick<Secrets, 'read'>): OperatorSecrets {
  const named = operatorTokensIn(read('operator_tokens') ?? '');
  // Lines that cannot be used are treated as no tokens. The next start refuses such lines.
  return { admin: read('admin_token'), viewer: read('viewer_token'), named: typeof named === 'string' ? [] : named };
}

/** Returns why a value cannot be used, in a sentence that does not contain the value; undefined for a usable value. */
export function ownSecretProblem(entry: OwnSecret, value: string): string | undefined {
  if (entry === 'assertion_keys') {
    try {
      parseAssertionKeys(value);
    } catch (error) {
      return (error as Error).message;
    }
  }
  if (entry === 'operator_tokens') {
    const found = operatorTokensIn(value);
    return typeof found === 'string' ? found : undefined;
  }
  const needsLength = entry === 'key_pepper' || entry === 'cursor_secret' || entry === 'viewer_token';
  if (!needsLength || value.length >= LENGTH_MIN) return undefined;
  return `The secrets entry ${entry} is too short: it needs at least ${LENGTH_MIN} characters.`;
}
