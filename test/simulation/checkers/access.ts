// Checks from outside who is let in: nobody after the refusal of a key was confirmed, and everybody with a key in good order while nothing
// is out of order. It knows what the operator was told and when, and nothing of caches and streams of changes.

import type { Deployment } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';

/** In order, a change is in force everywhere within this time, announced or not. */
const IN_FORCE_MS = 1500;

/** The longest grace, and what instances report beyond it. */
const GRACE_MAX_MS = 920_000;

/** A change as its author sees it. */
interface Change {
  readonly allows: boolean;
  readonly startedMs: number;
  /** Infinity: the author does not know whether it was made. */
  returnedMs: number;
  /** From then on no process lets it in, apart from those below. */
  confirmedMs: number;
  /** Gateways that may let it in for so long. */
  readonly exceptions: Map<string, number>;
}

export interface Request {
  /** The key, and what else decides on it, such as its organization. */
  readonly subjects: readonly string[];
  readonly gateway: string;
  /** The process of this gateway. */
  readonly process: SimulatedProcess;
  readonly sentMs: number;
}

export class AccessChecker {
  readonly #deployment: Deployment;
  readonly #changes = new Map<string, Change[]>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** Returns functions for what the author learns later. */
  begin(subject: string, allows: boolean) {
    const change: Change = {
      allows,
      startedMs: this.#deployment.world.now(),
      returnedMs: Number.POSITIVE_INFINITY,
      confirmedMs: Number.POSITIVE_INFINITY,
      exceptions: new Map(),
    };
    this.#changes.set(subject, [...(this.#changes.get(subject) ?? []), change].slice(-3));
    const now = () => this.#deployment.world.now();
    return {
      returned() {
        change.returnedMs = now();
      },
      confirmed(exceptions: ReadonlyMap<string, number>) {
        change.confirmedMs = now();
        for (const [gateway, untilMs] of exceptions) change.exceptions.set(gateway, untilMs);
      },
    };
  }

  letIn({ subjects, gateway, process, sentMs }: Request): void {
    const { world } = this.#deployment;
    for (const subject of subjects) {
      const last = this.#lastOf(subject);
      if (last === undefined || last.allows || this.#mayBeLost(last)) continue;
      const confirmedMs = last.exceptions.get(gateway) ?? last.confirmedMs;
      const mayBeLate = last.exceptions.has(gateway) || process.stoodStillSince(last.startedMs);
      if (mayBeLate && this.#isClockSetSince(last.startedMs - GRACE_MAX_MS)) continue;
      if (sentMs > confirmedMs)
        world.violate(
          'access',
          `${gateway} let ${subject} in, ${Math.round(sentMs - confirmedMs)} ms after its refusal was confirmed`,
        );
      if (this.#isInOrder(last.returnedMs, sentMs))
        world.violate(
          'access',
          `${gateway} let ${subject} in, ${sentMs - last.returnedMs} ms after it was to be refused`,
        );
    }
  }

  refused({ subjects, gateway, sentMs }: Request, code: string): void {
    const { world, disturbances } = this.#deployment;
    const isGood = subjects.every((subject) => {
      const changes = this.#changes.get(subject) ?? [];
      const last = changes.at(-1);
      return (
        last?.allows && !changes.some((change) => this.#mayBeLost(change)) && this.#isInOrder(last.returnedMs, sentMs)
      );
    });
    if (isGood) world.violate('access', `${gateway} refused ${subjects[0]} with ${code}, although it is in good order`);
    if (code === 'auth_unavailable' && disturbances.isCalmSince(sentMs))
      world.violate('progress', `${gateway} cannot look up ${subjects[0]}, although nothing is out of order`);
  }

  /** A clock that is set back, and a machine that is suspended, in one outage: no clock of Node measures that outage. */
  #isClockSetSince(fromMs: number): boolean {
    return this.#deployment.clockJumpsMs.some((atMs) => atMs > fromMs);
  }

  #lastOf(subject: string): Change | undefined {
    return this.#changes.get(subject)?.at(-1);
  }

  #isInOrder(returnedMs: number, sentMs: number): boolean {
    return sentMs - returnedMs > IN_FORCE_MS && this.#deployment.disturbances.isCalmSince(sentMs - IN_FORCE_MS);
  }

  /** Redis may have lost it. */
  #mayBeLost({ startedMs, returnedMs }: Change): boolean {
    return this.#deployment.redis.losses().some(({ atMs, sinceMs }) => atMs >= startedMs && sinceMs <= returnedMs);
  }
}
