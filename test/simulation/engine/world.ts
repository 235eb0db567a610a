// One simulated world: true time, the events in it, its random numbers and its trace. It runs the turns of all processes in one thread, one
// after another: an event, then all promises that follow from it, then the next event. The order depends on nothing but the seed.

import { EventQueue, type ScheduledEvent } from './queue.ts';
import { createRandom, type Random } from './random.ts';
import { createTrace, type Trace } from './trace.ts';

/** The real time at which simulations begin, epoch milliseconds. */
export const BEGINNING_MS = Date.UTC(2026, 0, 1);

/** Something that must not happen. */
export class Violation extends Error {
  readonly checker: string;
  readonly atMs: number;

  constructor(checker: string, atMs: number, sentence: string) {
    super(sentence);
    this.checker = checker;
    this.atMs = atMs;
  }
}

interface WorldOptions {
  readonly seed: string;
  /** Keeps the lines of the trace. */
  readonly keepsTrace?: boolean;
}

export class World {
  readonly random: Random;
  readonly trace: Trace;
  readonly #queue = new EventQueue();
  #nowMs = 0;
  #events = 0;
  #violation: Violation | undefined;

  constructor({ seed, keepsTrace = false }: WorldOptions) {
    this.random = createRandom(seed);
    this.trace = createTrace(keepsTrace);
  }

  /** True time: milliseconds since the beginning. No process can read it. */
  now(): number {
    return this.#nowMs;
  }

  events(): number {
    return this.#events;
  }

  after(ms: number, run: () => void): ScheduledEvent {
    return this.#queue.add(this.#nowMs + Math.max(0, ms), run);
  }

  note(who: string, what: string): void {
    this.trace.note(this.#nowMs, who, what);
  }

  /** A checker has found a fault. The first one counts; the run ends. */
  violate(checker: string, sentence: string): void {
    if (this.#violation !== undefined) return;
    this.#violation = new Violation(checker, this.#nowMs, sentence);
    this.note('checker', `${checker}: ${sentence}`);
  }

  violation(): Violation | undefined {
    return this.#violation;
  }

  /** Runs until this true time, or until a violation. */
  run(untilMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const isOver = () => {
        if (this.#violation !== undefined) return true;
        try {
          return !this.#runNext(untilMs);
        } catch (error) {
          reject(error);
          return true;
        }
      };
      // Node finishes all promises between two callbacks of the same phase, so that each event has them to itself.
      const turn = () => {
        if (isOver()) return void resolve();
        setImmediate(turn);
      };
      setImmediate(turn);
    });
  }

  #runNext(untilMs: number): boolean {
    const event = this.#queue.take(untilMs);
    if (event === undefined) {
      this.#nowMs = Math.max(this.#nowMs, untilMs);
      return false;
    }
    this.#nowMs = event.atMs;
    this.#events += 1;
    event.run();
    return true;
  }
}
