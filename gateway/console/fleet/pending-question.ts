// A question that one instance has published, with the answers that have come so far.

import { randomBytes } from 'node:crypto';
import { startDeadline } from '../../shared/deadline.ts';
import { PATIENCE_MS } from '../../shared/questions/fleet.ts';
import type { FleetInstance, MissingInstance } from './fleet-instance.ts';

export interface FleetAnswer {
  readonly instance: FleetInstance | MissingInstance;
  /** The answer of the instance; undefined if it gave no answer. */
  readonly value: unknown;
}

export class PendingQuestion {
  readonly id = randomBytes(8).toString('hex');
  readonly #expected: readonly FleetInstance[];
  readonly #answers = new Map<string, FleetAnswer>();
  /** Number of consoles that received the question. */
  #receivers = Number.POSITIVE_INFINITY;
  readonly #ended = Promise.withResolvers<void>();
  readonly #deadline = startDeadline(PATIENCE_MS.instance, this.#ended.resolve);

  /** @param expected the known instances that have to answer */
  constructor(expected: readonly FleetInstance[]) {
    this.#expected = expected;
  }

  take(answer: FleetAnswer): void {
    this.#answers.set(answer.instance.id, answer);
    this.#endIfComplete();
  }

  /**
   * Resolves when all have answered, or after about a second, with the answers, and with the instances that gave none.
   *
   * @param receivers number of other consoles that received the question; undefined if it could not be published
   */
  async end(receivers: number | undefined): Promise<[answers: FleetAnswer[], silent: FleetInstance[]]> {
    this.#receivers = receivers ?? 0;
    if (receivers === undefined) this.#ended.resolve();
    this.#endIfComplete();
    await this.#ended.promise;
    this.#deadline.stop();
    return [[...this.#answers.values()], this.#silent()];
  }

  #endIfComplete(): void {
    if (this.#answers.size >= this.#receivers && this.#silent().length === 0) this.#ended.resolve();
  }

  #silent(): FleetInstance[] {
    return this.#expected.filter(({ id }) => !this.#answers.has(id));
  }
}
