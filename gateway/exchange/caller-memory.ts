// Values that are computed once for each caller and used by each of its requests: the charges of its limits, its assertion, its text in the
// log line. The caller has an array of them. A map would cost 0.2 µs more per look-up, because its memory is rarely in the processor's
// cache.

import type { Caller, CallerMemory } from './caller.ts';

let kinds = 0;

/** Returns a new memory. Use it for a caller object that many requests share. */
export function newCallerMemory(): CallerMemory {
  return new Array(kinds + 1).fill(undefined);
}

/**
 * One kind of value that callers remember. Create it when its module is loaded, and not later, because each kind occupies an index in the
 * memory of every caller.
 */
export class CallerNote<T> {
  readonly #index: number;
  /**
   * The values of callers that have no memory, and of copies of callers. A copy shares the memory of its original but has other rights, so
   * the values of a copy are kept here.
   */
  readonly #others = new WeakMap<Caller, T>();

  constructor() {
    kinds += 1;
    this.#index = kinds;
  }

  get(caller: Caller): T | undefined {
    const { memory } = caller;
    if (memory === undefined || memory[0] !== caller) return this.#others.get(caller);
    return memory[this.#index] as T | undefined;
  }

  set(caller: Caller, value: T): void {
    const { memory } = caller;
    if (memory !== undefined) memory[0] ??= caller;
    if (memory === undefined || memory[0] !== caller) this.#others.set(caller, value);
    else memory[this.#index] = value;
  }
}
