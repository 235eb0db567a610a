// What a place does in which the gateway keeps the secrets that it made itself. Types only.

import type { Awaitable } from '../exchange.ts';

/** Whatever it is built on, processes that ask at once see one value, and none ever sees half of it. */
export interface MadeSecrets {
  read(entry: string): Awaitable<string | undefined>;
  /** A new value. Whoever is first decides: the value that is kept from now on. */
  make(entry: string, value: string): Awaitable<string>;
  /** A value that was in use before, where none is any more. As with a new one, whoever is first decides. */
  restore(entry: string, value: string): Awaitable<string>;
  /** Puts a value in the place of another. False, with nothing written, if that is not the present one any more. */
  replace(entry: string, former: string, value: string): Awaitable<boolean>;
}

/** Copies for the day on which the original is gone. */
export interface SecretCopies {
  read(entry: string): string | undefined;
  /** A copy that cannot be written is none: nobody depends on it today. */
  put(entry: string, value: string): void;
}
