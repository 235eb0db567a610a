// What is remembered with a caller: the charges of its limits, its assertion, the text of its log line. A request finds each in the memory
// of its caller. In a map it costs two or three reads more, of memory that has left the processor's cache since the caller's last request:
// some 0.2 µs each.

import type { Caller, CallerMemory } from './caller.ts';

let places = 0;

/** A new memory, for a caller of whom many requests get the same object. */
export function newCallerMemory(): CallerMemory {
  return new Array(places + 1).fill(undefined);
}

/** One kind of note that is kept with each caller. Make it when its module is loaded, because it takes a place in every memory. */
export class CallerNote<T> {
  readonly #place: number;
  /**
   * Notes about callers that have no memory, and about copies of callers: a copy shares the memory of its original, and has other rights.
   */
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
