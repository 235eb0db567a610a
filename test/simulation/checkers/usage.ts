// Checks from outside that each request is counted once: it knows which requests ended where and when, when faults happened and what Redis
// has lost; nothing of batches, their numbers and marks.

import type { Deployment } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';

/** Each instance writes every 4 to 6 seconds, for 2 at most; the rest is the way. */
const WRITTEN_WITHIN_MS = 8500;
/** An instance that has written nothing for 60 seconds is not waited for. */
const WAITED_FOR_MS = 60_000;
/** By so much answers are behind. */
const BEHIND_MS = 8000;
const CLOCKS_DIFFER_MS = 2000;

interface Counted {
  readonly process: SimulatedProcess;
  /** True time. */
  readonly atMs: number;
  /** By the clock of its process. */
  readonly ownMs: number;
  /** From when on it is written for certain; Infinity: that is not known yet. */
  writtenMs: number;
}

export interface UsageAnswer {
  readonly place: string;
  /** Which answers. */
  readonly process: SimulatedProcess;
  readonly organization: string;
  readonly askedMs: number;
  readonly requests: number;
  readonly completeUntilMs: number;
}

export class UsageChecker {
  readonly #deployment: Deployment;
  readonly #counted = new Map<string, Counted[]>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** A request has ended. */
  counted(organization: string, process: SimulatedProcess): void {
    const known = this.#counted.get(organization) ?? [];
    this.#counted.set(organization, known);
    const atMs = this.#deployment.world.now();
    known.push({ process, atMs, ownMs: process.machine.now(), writtenMs: Number.POSITIVE_INFINITY });
  }

  answered(answer: UsageAnswer): void {
    const { world, disturbances } = this.#deployment;
    const { place, process, organization, requests, completeUntilMs, askedMs } = answer;
    const all = this.#counted.get(organization) ?? [];
    const needed = this.#neededIn(answer, all);
    if (requests > all.length || requests < needed)
      world.violate('usage', `${place} tells of ${requests} requests of ${organization}: ${needed} to ${all.length}`);
    const behindMs = process.machine.now() - completeUntilMs;
    const isInOrder = disturbances.isCalmSince(askedMs - WAITED_FOR_MS - 2 * WRITTEN_WITHIN_MS);
    if (isInOrder && behindMs > BEHIND_MS + WRITTEN_WITHIN_MS + CLOCKS_DIFFER_MS)
      world.violate('progress', `${place} is ${Math.round(behindMs)} ms behind`);
  }

  /** How many requests have to be in an answer: what is written, what it promises, and what its own process had counted. */
  #neededIn({ process, askedMs, completeUntilMs }: UsageAnswer, all: readonly Counted[]): number {
    const waitsFor = new Map<SimulatedProcess, number>();
    const promisedMs = (by: SimulatedProcess) => {
      const known = waitsFor.get(by) ?? this.#promisedMs(by, process, completeUntilMs);
      waitsFor.set(by, known);
      return known;
    };
    return all.filter((one) => {
      const isNeeded = this.#writtenMs(one) < askedMs || one.process === process || one.ownMs < promisedMs(one.process);
      return isNeeded && one.atMs < askedMs && !this.#mayBeLost(one);
    }).length;
  }

  /** By the clock of a process: what it has counted until then is complete, as the answer says. */
  #promisedMs(by: SimulatedProcess, reader: SimulatedProcess, completeUntilMs: number): number {
    const { world, disturbances, redis } = this.#deployment;
    const sinceMs = world.now() - WAITED_FOR_MS + WRITTEN_WITHIN_MS;
    const hasWritten = disturbances.calmFor(2 * WRITTEN_WITHIN_MS, Math.max(sinceMs, by.bornMs)) <= world.now();
    if (hasWritten && !redis.losses().some(({ atMs }) => atMs > sinceMs)) return completeUntilMs;
    // It is waited for by the clock of the reader, if it writes at all.
    if (!disturbances.isCalmSince(by.bornMs)) return Number.NEGATIVE_INFINITY;
    return completeUntilMs - Math.max(0, reader.machine.now() - by.machine.now());
  }

  #writtenMs(one: Counted): number {
    const { disturbances } = this.#deployment;
    if (one.writtenMs === Number.POSITIVE_INFINITY) {
      // After an outage, what waited is written first.
      const isCalm = disturbances.isCalmBetween(one.atMs - 2 * WRITTEN_WITHIN_MS, one.atMs);
      one.writtenMs = disturbances.calmFor(isCalm ? WRITTEN_WITHIN_MS : 2 * WRITTEN_WITHIN_MS, one.atMs);
    }
    return one.writtenMs;
  }

  /** Its process was killed before it was written for certain, or Redis may have lost it. */
  #mayBeLost(one: Counted): boolean {
    const writtenMs = this.#writtenMs(one);
    if (one.process.killedMs() <= writtenMs && !one.process.isAlive()) return true;
    return this.#deployment.redis.losses().some(({ atMs, sinceMs }) => one.atMs <= atMs && sinceMs < writtenMs);
  }
}
