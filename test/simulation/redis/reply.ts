// What a server of Redis answers, before it is encoded for a connection. Texts have one character per byte.

export type Reply = null | number | string | Status | RedisError | readonly Reply[];

/** A short text that is no data, such as OK. */
export class Status {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An error as a server answers it; it is a value here, because a script can return one. */
export class RedisError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export const OK = new Status('OK');
export const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';
export const NO_INTEGER = 'ERR value is not an integer or out of range';

/** Thrown by a command; the server answers it. */
export class CommandFailure extends Error {}

export function fail(message: string): never {
  throw new CommandFailure(message);
}
