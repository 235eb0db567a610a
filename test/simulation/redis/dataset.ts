// The data of one server: keys with their types and times of expiry. Commands read and change it through these functions only.

import { fail, NO_INTEGER, WRONG_TYPE } from './reply.ts';
import type { SortedSet } from './sorted-set.ts';

export interface StreamEntry {
  readonly milliseconds: number;
  readonly number: number;
  /** Names and values in turn. */
  readonly fields: readonly string[];
}

export interface Stream {
  entries: StreamEntry[];
  last: Pick<StreamEntry, 'milliseconds' | 'number'>;
}

interface Values {
  readonly string: string;
  readonly hash: Map<string, string>;
  readonly list: string[];
  readonly zset: SortedSet;
  readonly stream: Stream;
}

type KeyType = keyof Values;

interface Entry<T extends KeyType = KeyType> {
  readonly type: T;
  value: Values[T];
  /** Epoch milliseconds; Infinity: never. */
  expiresAtMs: number;
}

export class Dataset {
  readonly #entries = new Map<string, Entry>();
  /** The clock of the server, epoch milliseconds. */
  readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  entry(key: string): Entry | undefined {
    const found = this.#entries.get(key);
    if (found === undefined || found.expiresAtMs > this.now()) return found;
    this.#entries.delete(key);
    return undefined;
  }

  /** Undefined: there is no such key. Fails if it has another type. */
  read<T extends KeyType>(key: string, type: T): Values[T] | undefined {
    const found = this.entry(key);
    if (found === undefined) return undefined;
    if (found.type !== type) fail(WRONG_TYPE);
    return found.value as Values[T];
  }

  /** The value to change, made if the key is absent. */
  change<T extends KeyType>(key: string, type: T, make: () => Values[T]): Values[T] {
    const found = this.read(key, type);
    if (found !== undefined) return found;
    const value = make();
    this.#entries.set(key, { type, value, expiresAtMs: Number.POSITIVE_INFINITY });
    return value;
  }

  /** Sets a text, and keeps the expiry of a key that was there. */
  replaceText(key: string, value: string): void {
    const found = this.entry(key);
    if (found === undefined) this.setText(key, value);
    else (found as Entry<'string'>).value = value;
  }

  setText(key: string, value: string, expiresAtMs = Number.POSITIVE_INFINITY): void {
    this.#entries.set(key, { type: 'string', value, expiresAtMs });
  }

  expireAt(key: string, atMs: number): boolean {
    const found = this.entry(key);
    if (found === undefined) return false;
    found.expiresAtMs = atMs;
    if (atMs <= this.now()) this.#entries.delete(key);
    return true;
  }

  remove(key: string): boolean {
    return this.entry(key) !== undefined && this.#entries.delete(key);
  }

  rename(from: string, to: string): boolean {
    const found = this.entry(from);
    if (found === undefined) return false;
    this.#entries.delete(from);
    this.#entries.set(to, found);
    return true;
  }

  /** Collections without members do not exist. */
  removeIfEmpty(key: string, size: number): void {
    if (size === 0) this.#entries.delete(key);
  }

  keys(): string[] {
    return [...this.#entries.keys()].filter((key) => this.entry(key) !== undefined);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** A copy that shares nothing. */
  copy(now = this.now): Dataset {
    const made = new Dataset(now);
    for (const [key, { type, value, expiresAtMs }] of this.#entries)
      made.#entries.set(key, { type, value: copyOf(type, value), expiresAtMs });
    return made;
  }
}

function copyOf(type: KeyType, value: Entry['value']): Entry['value'] {
  switch (type) {
    case 'string':
      return value;
    case 'hash':
      return new Map(value as Map<string, string>);
    case 'list':
      return [...(value as string[])];
    case 'zset':
      return (value as SortedSet).copy();
    case 'stream':
      return { entries: [...(value as Stream).entries], last: (value as Stream).last };
  }
}

/** The argument as an integer of 64 bits, as far as JavaScript counts exactly. */
export function integer(text: string): number {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) fail(NO_INTEGER);
  return Number(text);
}
