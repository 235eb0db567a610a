// When anything was out of order: what checkers know of the faults. In between, every promise has to hold exactly.

import type { World } from './engine/world.ts';

/** How long after a fault everything is exact again (docs/reliability.md says a second, once Redis answers; a connection takes its time, too). */
const RECOVERY_MS = 3000;

interface Span {
  readonly fromMs: number;
  untilMs: number;
}

export class Disturbances {
  readonly #world: World;
  #spans: Span[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Returns what to call at its end. */
  begin(): () => void {
    const span = { fromMs: this.#world.now(), untilMs: Number.POSITIVE_INFINITY };
    this.#spans.push(span);
    return () => {
      span.untilMs = this.#world.now() + RECOVERY_MS;
    };
  }

  /** How many there were since then. */
  since(fromMs: number): number {
    return this.#spans.filter(({ untilMs }) => untilMs >= fromMs).length;
  }

  isCalmSince(fromMs: number): boolean {
    return this.since(fromMs) === 0;
  }
}
