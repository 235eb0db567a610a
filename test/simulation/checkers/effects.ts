// Checks from outside that a write with an Idempotency-Key has one effect: it knows what the service executed, what clients were told, and what Redis
// has lost; nothing of leases and records.

import type { World } from '../engine/world.ts';

export interface EffectRules {
  /** How long a key is remembered. */
  readonly retainMs: number;
  /** Whether a write that began then may have a second effect if its outcome was not told: as the operator chose, or as a fault made it. */
  readonly repeatsUnknown: (begunMs: number) => 'never' | 'unless it was told' | 'always';
  /** Whether a write that began then may have been forgotten since. */
  readonly mayBeForgotten: (begunMs: number, sentMs: number) => boolean;
}

interface Write {
  readonly effects: { readonly id: string; readonly atMs: number; readonly begunMs: number; readonly sentMs: number }[];
  /** What a client was told, and when. */
  answer: { readonly id: string; readonly atMs: number } | undefined;
}

export class EffectChecker {
  readonly #world: World;
  readonly #rules: EffectRules;
  readonly #writes = new Map<string, Write>();

  constructor(world: World, rules: EffectRules) {
    this.#world = world;
    this.#rules = rules;
  }

  /**
   * The service has executed a write.
   *
   * @param begunMs when the gateway got the request
   * @param sentMs when it sent the request
   */
  executed(key: string, id: string, begunMs: number, sentMs: number): void {
    const { effects, answer } = this.#writeOf(key);
    effects.push({ id, atMs: this.#world.now(), begunMs, sentMs });
    const [first] = effects;
    // The later effect may be of the earlier request.
    if (effects.length < 2 || first === undefined || effects.some((effect) => this.#isExcused(effect))) return;
    const repeats = this.#rules.repeatsUnknown(first.begunMs);
    if (repeats === 'always') return;
    if (repeats === 'unless it was told' && sentMs < (answer?.atMs ?? Number.POSITIVE_INFINITY)) return;
    this.#world.violate('effects', `${key} has effects ${effects.map((effect) => effect.id).join(' and ')}`);
  }

  /** A client was told that its write has this effect. */
  answered(key: string, id: string): void {
    const write = this.#writeOf(key);
    if (!write.effects.some((effect) => effect.id === id))
      this.#world.violate('effects', `${key}: a client was told of ${id}, which the service did not execute`);
    const { answer, effects } = write;
    const isExcused = effects.some(
      (effect) => this.#isExcused(effect) || this.#rules.repeatsUnknown(effect.begunMs) === 'always',
    );
    if (answer !== undefined && answer.id !== id && !isExcused)
      this.#world.violate('effects', `${key}: one client was told of ${answer.id}, another of ${id}`);
    write.answer ??= { id, atMs: this.#world.now() };
  }

  #isExcused({ atMs, begunMs, sentMs }: Write['effects'][number]): boolean {
    return this.#world.now() - atMs > this.#rules.retainMs * 0.9 || this.#rules.mayBeForgotten(begunMs, sentMs);
  }

  #writeOf(key: string): Write {
    const known = this.#writes.get(key) ?? { effects: [], answer: undefined };
    this.#writes.set(key, known);
    return known;
  }
}
