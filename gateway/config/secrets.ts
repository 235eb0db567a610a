// Secrets: from files, else from the environment, else (what only has to be the same everywhere) made once in the data directory.
// No message ever holds a value.

import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ENTRY = /^[a-z][a-z0-9_]{0,63}$/;
const LENGTH_MIN = 16;

/** A private Ed25519 key, as JWK. */
export interface Ed25519Jwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
}

export interface Secrets {
  /** The value as it is now: a file that was changed is read anew. Undefined: there is no such entry. */
  read(entry: string): string | undefined;
  /** Under this, key digests are made. */
  keyPepper(): string;
  /** The first one signs; all are published. */
  assertionKeys(): readonly Ed25519Jwk[];
  /** Under this, the sandbox makes its cursors. */
  cursorSecret(): string;
}

export interface SecretsOptions {
  /** One file per entry; wins over the environment. */
  readonly directory?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dataDirectory: string;
}

/** Reads nothing yet: each entry is read, or made, when it is asked for. */
export function loadSecrets({ directory, environment, dataDirectory }: SecretsOptions): Secrets {
  const madeIn = join(dataDirectory, 'secrets');

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

  function readOrMake(entry: string, make: () => string): string {
    return read(entry) ?? readSecretFile(madeIn, entry) ?? makeSecretFile(madeIn, entry, make());
  }

  function readLongEnough(entry: string): string {
    const value = readOrMake(entry, () => randomBytes(32).toString('base64url'));
    if (value.length >= LENGTH_MIN) return value;
    throw new Error(`The secrets entry ${entry} is too short: it needs at least ${LENGTH_MIN} characters.`);
  }

  return {
    read,
    keyPepper: () => readLongEnough('key_pepper'),
    cursorSecret: () => readLongEnough('cursor_secret'),
    assertionKeys: () => parseAssertionKeys(readOrMake('assertion_keys', newAssertionKeys)),
  };
}

function readSecretFile(directory: string, entry: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(join(directory, entry), 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Error(`The secrets entry ${entry} in ${directory} cannot be read (${code}).`, { cause });
  }
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw new Error(`The secrets entry ${entry} in ${directory} is an empty file.`);
  return value;
}

/** Whoever is first decides: several processes that start at once end up with one value, and none ever reads half of it. */
function makeSecretFile(directory: string, entry: string, value: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const draft = join(directory, `.${entry}.${randomBytes(8).toString('hex')}`);
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, `${value}\n`);
    fsyncSync(file);
    linkSync(draft, join(directory, entry));
    return value;
  } catch (cause) {
    const winner = readSecretFile(directory, entry);
    if (winner !== undefined) return winner;
    throw new Error(`The secrets entry ${entry} cannot be made in ${directory}.`, { cause });
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
}

function newAssertionKeys(): string {
  return JSON.stringify({ keys: [generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })] });
}

function parseAssertionKeys(text: string): readonly Ed25519Jwk[] {
  const wrong = (what: string) => new Error(`The secrets entry assertion_keys is malformed: ${what}.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, so it goes no further.
    throw wrong('it is not JSON');
  }
  const keys = (parsed as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || keys.length === 0) throw wrong('it is not a JWK Set with at least one key');
  return keys.map((key: unknown, index) => {
    if (!isEd25519Jwk(key)) throw wrong(`key ${index + 1} is not a private Ed25519 key whose halves belong together`);
    return Object.freeze({ kty: key.kty, crv: key.crv, x: key.x, d: key.d });
  });
}

function isEd25519Jwk(key: unknown): key is Ed25519Jwk {
  const { kty, crv, x, d } = (key ?? {}) as Partial<Record<string, unknown>>;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string' || typeof d !== 'string') return false;
  try {
    return (
      createPublicKey(createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' })).export({ format: 'jwk' }).x === x
    );
  } catch {
    return false;
  }
}
