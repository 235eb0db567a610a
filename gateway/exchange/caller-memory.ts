// What is remembered with a caller: the charges of its limits, its assertion, the text of its log line. A request finds each in the memory
// of its caller. In a map it costs two or three reads more, of memory that has left the processor's cache since the caller's last request:
// some 0.2 µs each.

import type { Caller, CallerMemory } from './caller.ts';

let places = 0;

/** A new memory, for a caller of whom many requests get the same object. */
export function newCallerMemory(): CallerMemory {
  return new Array(places + 1).fill(undefined);
}

/** One thing that is remembered with each caller. Make it when the module is loaded: each has a place in every memory. */
export class CallerNote<T> {
  readonly #place: number;
  /** Notes about callers without a memory, and about copies: a copy has other rights than its original, and the same memory. */
  readonly #others = new WeakMap<Caller, T>();

  constructor() {
    places += 1;
    this.#place = places;
  }

  of(caller: Caller): T | undefined {
    const { memory } = caller;
    if (memory === undefined || memory[0] !== caller) return this.#others.get(caller);
    return memory[this.#place] as T | undefined;
  }

  set(caller: Caller, value: T): void {
    const { memory } = caller;
    if (memory !== undefined) memory[0] ??= caller;
    if (memory === undefined || memory[0] !== caller) this.#others.set(caller, value);
    else memory[this.#place] = value;
  }
}
