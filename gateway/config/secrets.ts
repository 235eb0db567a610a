// Secrets: from files, else from the environment, else (what only has to be the same everywhere) made once, in Redis or in the data
// directory. No message ever holds a value.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Ed25519Jwk, newAssertionKey, parseAssertionKeys, printAssertionKeys } from './secret-assertion-keys.ts';
import { createSecretCopies, createSecretsDirectory, readSecretFile } from './secrets-directory.ts';
import { createKeptSecrets } from './secrets-kept.ts';
import { createSecretsInRedis } from './secrets-redis.ts';

const ENTRY = /^[a-z][a-z0-9_]{0,63}$/;
const LENGTH_MIN = 16;
const PATIENCE_MS = 5000;
/** Each time somebody else was quicker; nobody rotates so often. */
const CHANGE_ATTEMPTS = 20;

export interface Secrets {
  /** The value as it is now: a file that was changed is read anew. Undefined: there is no such entry. Throws a sentence. */
  read(entry: string): string | undefined;
  /** Under this, key digests are made. Like the next ones it rejects with a sentence when it cannot be had. */
  keyPepper(): Promise<string>;
  /** The entry as it is, or one made up: for an upstream that is the sandbox, where nobody has to be given one. */
  readOrMake(entry: string): Promise<string>;
  /** Under this, the sandbox makes its cursors. */
  cursorSecret(): Promise<string>;
  /** As they are now; the same array for as long as nothing has changed. */
  assertionKeys(): Promise<readonly Ed25519Jwk[]>;
  /**
   * Puts another set in the place of the present one; what others change meanwhile is not lost, `change` is asked again. Rejects with a
   * sentence if the set is not one that the gateway made itself.
   */
  changeAssertionKeys(
    change: (present: readonly Ed25519Jwk[]) => readonly Ed25519Jwk[],
  ): Promise<readonly Ed25519Jwk[]>;
  /** Puts back what Redis has lost of the entries found there. */
  restoreLost(): Promise<void>;
  /** Entries that were found in Redis, or made there, since somebody asked for them. */
  foundInRedis(): readonly string[];
}

export interface SecretsOptions {
  /** One file per entry; wins over the environment. */
  readonly directory?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dataDirectory: string;
  /** Where to keep what is made; absent: in the data directory. */
  readonly redisUrl?: string | undefined;
}

/** Reads nothing yet: each entry is read, or made, when it is asked for. */
export function loadSecrets({ directory, environment, dataDirectory, redisUrl }: SecretsOptions): Secrets {
  const made =
    redisUrl === undefined
      ? createSecretsDirectory(join(dataDirectory, 'secrets'))
      : createKeptSecrets(
          createSecretsInRedis({ url: redisUrl, patienceMs: PATIENCE_MS }),
          createSecretCopies(join(dataDirectory, 'secrets', 'shared')),
          createSecretsDirectory(join(dataDirectory, 'secrets')),
        );
  const foundInRedis = new Set<string>();
  let parsed: { readonly text: string; readonly keys: readonly Ed25519Jwk[] } | undefined;

  function read(entry: string): string | undefined {
    if (!ENTRY.test(entry)) {
      throw new Error(
        `The secrets entry "${entry}" is misspelled: names are lower-case letters, digits and underscores.`,
      );
    }
    const fromFile = directory === undefined ? undefined : readSecretFile(directory, entry);
    // An empty variable is how a compose file passes on one that is not set.
    return fromFile ?? (environment[entry.toUpperCase()] || undefined);
  }

  async function readOrMake(entry: string, make: () => string): Promise<string> {
    const given = read(entry);
    if (given !== undefined) return given;
    const value = (await made.read(entry)) ?? (await made.make(entry, make()));
    if (redisUrl !== undefined) foundInRedis.add(entry);
    return value;
  }

  async function readLongEnough(entry: string): Promise<string> {
    const value = await readOrMake(entry, newSecret);
    if (value.length >= LENGTH_MIN) return value;
    throw new Error(`The secrets entry ${entry} is too short: it needs at least ${LENGTH_MIN} characters.`);
  }

  async function readKeySet() {
    // A set that got lost is put back: another one at once would be met by upstreams that do not know it.
    const text = await readOrMake('assertion_keys', () => parsed?.text ?? printAssertionKeys([newAssertionKey()]));
    if (parsed?.text !== text) parsed = { text, keys: parseAssertionKeys(text) };
    return parsed;
  }

  async function changeAssertionKeys(change: (present: readonly Ed25519Jwk[]) => readonly Ed25519Jwk[]) {
    if (read('assertion_keys') !== undefined) {
      throw new Error(
        'The secrets entry assertion_keys comes from SECRETS_DIR or the environment, where the gateway does not write. Print the new set with `bin/gateway assertion-keys rotate --print` and put it there.',
      );
    }
    for (let attempt = 0; attempt < CHANGE_ATTEMPTS; attempt++) {
      const present = await readKeySet();
      const keys = change(present.keys);
      if (await made.replace('assertion_keys', present.text, printAssertionKeys(keys))) return keys;
    }
    throw new Error('The secrets entry assertion_keys is being changed by somebody else all the time.');
  }

  return {
    read,
    readOrMake: (entry) => readOrMake(entry, newSecret),
    keyPepper: () => readLongEnough('key_pepper'),
    cursorSecret: () => readLongEnough('cursor_secret'),
    assertionKeys: async () => (await readKeySet()).keys,
    changeAssertionKeys,
    async restoreLost() {
      // Reading one that is missing brings all of them back.
      const [any] = foundInRedis;
      if (any !== undefined) await made.read(any);
    },
    foundInRedis: () => [...foundInRedis].sort(),
  };
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
