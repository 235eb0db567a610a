// The interface of stores for secrets that the gateway creates itself. Types only.

import type { Awaitable } from '../shared/awaitable.ts';

/** Every implementation must give concurrent processes the same value, and never a partly written one. */
export interface GeneratedSecrets {
  read(entry: string): Awaitable<string | undefined>;
  /** Stores a new value, unless the entry exists. Returns the value in force. */
  make(entry: string, value: string): Awaitable<string>;
  /** Stores a value that was in use before, unless the entry exists. Returns the value in force. */
  restore(entry: string, value: string): Awaitable<string>;
  /** Replaces `former` by `value`. Returns false and writes nothing if `former` is not the present value. */
  replace(entry: string, former: string, value: string): Awaitable<boolean>;
}

/** Copies of secrets, for the case that the original is lost. */
export interface SecretCopies {
  read(entry: string): string | undefined;
  /** Writes a copy. Ignores failures, because the original still exists. */
  put(entry: string, value: string): void;
}
