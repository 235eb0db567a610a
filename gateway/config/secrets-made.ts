// What a place does in which the gateway keeps the secrets that it made itself. Types only.

import type { Awaitable } from '../exchange.ts';

/** Whatever it is built on, processes that ask at once see one value, and none ever sees half of it. */
export interface MadeSecrets {
  read(entry: string): Awaitable<string | undefined>;
  /** Whoever is first decides: the value that is kept from now on. */
  make(entry: string, value: string): Awaitable<string>;
  /** Puts a value in the place of another. False, with nothing written, if that is not the present one any more. */
  replace(entry: string, former: string, value: string): Awaitable<boolean>;
}
