// When anything was out of order: what checkers know of the faults. In between, every promise has to hold exactly.

import type { World } from './engine/world.ts';

/**
 * How long after a fault everything is exact again (docs/reliability.md says a second, once Redis answers; a connection takes its time,
 * too).
 */
const RECOVERY_MS = 3000;

/** Among gateways and their Redis, or of a service that they ask. */
type Where = 'inside' | 'outside';

interface Span {
  readonly where: Where;
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
  begin(where: Where = 'inside'): () => void {
    const span = { where, fromMs: this.#world.now(), untilMs: Number.POSITIVE_INFINITY };
    this.#spans.push(span);
    return () => {
      span.untilMs = this.#world.now() + RECOVERY_MS;
    };
  }

  /** How many there were in all. */
  count(): number {
    return this.#spans.length;
  }

  /** How many there were since then. */
  since(fromMs: number): number {
    return this.#spans.filter(({ untilMs }) => untilMs >= fromMs).length;
  }

  /** Whether nothing was out of order between two moments; what began at the second one does not count. */
  isCalmBetween(fromMs: number, toMs: number): boolean {
    return !this.#spans.some((span) => span.fromMs < toMs && span.untilMs >= fromMs);
  }

  /** When, from a moment on, a calm had lasted so long for the first time; Infinity: not yet. */
  calmFor(forMs: number, fromMs: number): number {
    let calmFromMs = fromMs;
    for (const { fromMs: begunMs, untilMs } of this.#spans) {
      if (untilMs < calmFromMs) continue;
      if (begunMs - calmFromMs >= forMs) break;
      calmFromMs = untilMs;
    }
    const endsMs = calmFromMs + forMs;
    return endsMs <= this.#world.now() ? endsMs : Number.POSITIVE_INFINITY;
  }

  isCalmSince(fromMs: number): boolean {
    return this.since(fromMs) === 0;
  }

  /** The same, whatever services outside did: for promises that gateways keep without them. */
  isCalmInsideSince(fromMs: number): boolean {
    return !this.#spans.some(({ where, untilMs }) => where === 'inside' && untilMs >= fromMs);
  }
}
