// Checks a limit from outside: what was admitted in any span as long as the window, and whether refusals and their waits were right. It
// knows when requests were sent and answered and when something was out of order, and nothing of how they are counted.

import type { Deployment } from '../deployment.ts';

/** Units count at most a hundredth of a window too long. */
const GRAIN = 0.01;
/** The clock of a decision has whole milliseconds. */
const CLOCK_MS = 1;
/** Answers may be announced so much too late: whole seconds, and the way to the client. */
const ANNOUNCED_LATE_MS = 1500;
const ANSWERED_WITHIN_MS = 500;
/** Gateways learn of a reset within this time. */
const RESET_KNOWN_MS = 1000;
/** A reset that was not confirmed may happen so much later. */
const RESET_LATE_MS = 60_000;

export interface WindowRule {
  readonly limit: number;
  readonly windowMs: number;
  /** What all instances together admit in a window while each counts for itself: a share each, which has room for one request at least. */
  readonly localLimit: number;
  /** Whether there is a bound while something is out of order. */
  readonly isBounded: boolean;
}

export interface Answered {
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly cost: number;
}

interface Reset {
  readonly askedMs: number;
  /** When it was confirmed; undefined: it may not have happened. */
  doneMs: number | undefined;
}

export class WindowChecker {
  readonly #deployment: Deployment;
  readonly #rule: WindowRule;
  readonly #name: string;
  /** True times at which a part of the counters may have been lost: the limit may be used once more for each. */
  readonly #losses: () => readonly number[];
  /** Admitted requests in the order of their answers. */
  #admitted: Answered[] = [];
  readonly #resets: Reset[] = [];

  constructor(deployment: Deployment, name: string, rule: WindowRule, losses: () => readonly number[]) {
    this.#deployment = deployment;
    this.#name = name;
    this.#rule = rule;
    this.#losses = losses;
  }

  /** An operator resets the limit. Returns what to call when that is confirmed. */
  reset(): () => void {
    const { world } = this.#deployment;
    const reset: Reset = { askedMs: world.now(), doneMs: undefined };
    this.#resets.push(reset);
    return () => {
      reset.doneMs = world.now();
    };
  }

  admitted(answered: Answered): void {
    const { limit, localLimit, windowMs, isBounded } = this.#rule;
    const { disturbances, world } = this.#deployment;
    this.#admitted.push(answered);
    // All that certainly lie in one span of a window that ends with this one.
    const fromMs = answered.answeredMs - windowMs + CLOCK_MS;
    const oldestMs = fromMs - 2 * windowMs;
    if ((this.#admitted[0] as Answered).answeredMs < oldestMs - windowMs)
      this.#admitted = this.#admitted.filter(({ answeredMs }) => answeredMs > oldestMs);
    const sum = unitsOf(this.#admitted.filter(({ sentMs }) => sentMs > fromMs));
    const resets = this.#resets.map(({ askedMs, doneMs = askedMs + RESET_LATE_MS }) => doneMs);
    const losses = [...this.#losses(), ...resets].filter((atMs) => atMs >= fromMs).length;
    // Out of order, instances may count for themselves as well, unless they lost that, too.
    const isCalm = disturbances.isCalmSince(fromMs);
    if (!isCalm && !isBounded) return;
    const most = (limit + (isCalm ? 0 : localLimit)) * (1 + losses);
    if (sum > most) world.violate('limit', `${this.#name}: ${sum} units in ${windowMs / 1000} s are more than ${most}`);
  }

  /** @param waitMs the wait that was announced */
  refused(refusal: Answered, waitMs: number): void {
    // Requests that were decided before it may be answered after it.
    this.#deployment.world.after(ANSWERED_WITHIN_MS, () => this.#checkRefusal(refusal, waitMs));
  }

  #checkRefusal({ sentMs, answeredMs, cost }: Answered, waitMs: number): void {
    const { limit, windowMs } = this.#rule;
    const { disturbances, world } = this.#deployment;
    const countedMs = windowMs * (1 + GRAIN) + CLOCK_MS;
    const fromMs = Math.max(sentMs - countedMs, this.#resetBefore(sentMs));
    // A clock that was set back holds units until it has caught up.
    if (this.#deployment.redis.behindUntil() > fromMs) return;
    if (!disturbances.isCalmSince(fromMs) || this.#losses().some((atMs) => atMs >= fromMs) || cost > limit) return;
    const counted = this.#admitted.filter((one) => one.answeredMs > fromMs && one.sentMs < answeredMs);
    if (unitsOf(counted) + cost <= limit)
      world.violate('refusal', `${this.#name}: refused with ${unitsOf(counted)} of ${limit} units used`);
    const fitsMs = this.#fitsAtMs(counted, cost, countedMs);
    if (answeredMs + waitMs > fitsMs + ANNOUNCED_LATE_MS)
      world.violate('wait', `${this.#name}: told to wait ${waitMs} ms, and ${fitsMs - answeredMs} were enough`);
  }

  /** When the last reset that gateways know then was asked for. */
  #resetBefore(atMs: number): number {
    const known = this.#resets.filter(({ doneMs }) => doneMs !== undefined && doneMs + RESET_KNOWN_MS < atMs);
    return Math.max(Number.NEGATIVE_INFINITY, ...known.map(({ askedMs }) => askedMs));
  }

  /** When so many units have left the window that the cost fits, at the latest. */
  #fitsAtMs(counted: readonly Answered[], cost: number, countedMs: number): number {
    let units = unitsOf(counted) + cost;
    for (const one of counted) {
      units -= one.cost;
      if (units <= this.#rule.limit) return one.answeredMs + countedMs;
    }
    return Number.POSITIVE_INFINITY;
  }
}

const unitsOf = (answered: readonly Answered[]) => answered.reduce((units, { cost }) => units + cost, 0);
