// Keeps secrets in a directory, one file per entry. It is used for the secrets store, and for the secrets that the gateway itself creates.
// Error messages never contain a value.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GeneratedSecrets, SecretCopies } from './generated-secrets.ts';

/** A replacement takes milliseconds, so a lock that persists for a second was left behind. */
const LOCK_ATTEMPTS = 50;
const LOCK_EVERY_MS = 20;

/**
 * Returns the value in a file without its final newline; undefined if the file does not exist. Throws an Error if the file is empty or
 * cannot be read.
 */
export function readSecretFile(directory: string, entry: string): string | undefined {
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

/** Stores the secrets that the gateway itself creates, for all processes that share a data directory. */
export function createSecretsDirectory(directory: string): GeneratedSecrets {
  function make(entry: string, value: string): string {
    try {
      return withDraft(directory, entry, value, (draft) => {
        // Unlike a rename, a link never replaces an existing file.
        linkSync(draft, join(directory, entry));
        return value;
      });
    } catch (cause) {
      const winner = readSecretFile(directory, entry);
      if (winner !== undefined) return winner;
      throw new Error(`The secrets entry ${entry} cannot be made in ${directory}.`, { cause });
    }
  }

  return {
    read: (entry) => readSecretFile(directory, entry),
    make,
    restore: make,
    replace(entry, former, value) {
      return withLock(join(directory, `.${entry}.lock`), () => {
        if (readSecretFile(directory, entry) !== former) return false;
        withDraft(directory, entry, value, (draft) => renameSync(draft, join(directory, entry)));
        return true;
      });
    },
  };
}

/** Stores copies of secrets whose original is elsewhere. */
export function createSecretCopies(directory: string): SecretCopies {
  return {
    read: (entry) => readSecretFile(directory, entry),
    put(entry, value) {
      try {
        if (readSecretFile(directory, entry) === value) return;
        withDraft(directory, entry, value, (draft) => renameSync(draft, join(directory, entry)));
      } catch {
        // The data directory is not writable, so there is no copy.
      }
    },
  };
}

/** Calls `publish` with a temporary file that holds the whole value, synced to disk. */
function withDraft<T>(directory: string, entry: string, value: string, publish: (draft: string) => T): T {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const draft = join(directory, `.${entry}.${randomBytes(8).toString('hex')}`);
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, `${value}\n`);
    fsyncSync(file);
    return publish(draft);
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
}

/** Runs `work` in one process at a time, because no other process may write between the read and the rename. */
async function withLock<T>(lock: string, work: () => T): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      closeSync(openSync(lock, 'wx', 0o600));
      break;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw new Error(`${lock} cannot be written (${code}).`, { cause });
      if (attempt === LOCK_ATTEMPTS) {
        throw new Error(
          `Another process holds a lock. If none is running, remove the file that was left behind: ${lock}`,
          { cause },
        );
      }
      await sleep(LOCK_EVERY_MS);
    }
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}
