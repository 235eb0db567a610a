// Checks from outside that a write with an Idempotency-Key has one effect, and that no more answers are stored than may be: it knows what
// the service executed, what clients were told, and what Redis has lost; nothing of leases and records.

import type { World } from '../engine/world.ts';

interface EffectRules {
  /** How long a key is remembered. */
  readonly retainMs: number;
  /** How many bytes of answers may be stored in that time; at most twice as many are there at once. */
  readonly bytesMax: number;
  /** Whether a write that began then may have a second effect if its outcome was not told: as the operator chose, or as a fault made it. */
  readonly repeatsUnknown: (begunMs: number) => 'never' | 'unless it was told' | 'always';
  /** How long ago that was, by the clock of the store: it may have been set ahead. */
  readonly ageMs: (begunMs: number) => number;
  /** Whether the store may have lost a write that began then. */
  readonly mayBeLost: (begunMs: number, sentMs: number) => boolean;
}

/** So long beyond the bound a key is remembered without its answer. */
const NOTED_MS = 600_000;
/** Answers that are given within such a time, to writes from before it, were stored at the same time. */
const TOGETHER_MS = 600_000;
/** What is stored of a write counts as no more than this. */
const ENTRY_MAX_BYTES = 2000;

interface KeyedWrite {
  readonly key: string;
  readonly body: string;
}

interface Effect {
  readonly id: string;
  readonly body: string;
  readonly atMs: number;
  readonly begunMs: number;
  readonly sentMs: number;
}

interface Write {
  readonly effects: Effect[];
  /** When its stored answer was last given, and how long it is. */
  given: { readonly atMs: number; readonly bytes: number } | undefined;
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
  executed({ key, body }: KeyedWrite, id: string, begunMs: number, sentMs: number): void {
    const { effects, answer } = this.#writeOf(key);
    effects.push({ id, body, atMs: this.#world.now(), begunMs, sentMs });
    const [first] = effects;
    // The later effect may be of the earlier request.
    if (effects.length < 2 || first === undefined || effects.some((effect) => this.#isExcused(effect))) return;
    const isSame = effects.every((effect) => effect.body === body);
    const repeats = isSame ? this.#rules.repeatsUnknown(first.begunMs) : 'never';
    if (repeats === 'always') return;
    if (repeats === 'unless it was told' && sentMs < (answer?.atMs ?? Number.POSITIVE_INFINITY)) return;
    this.#world.violate('effects', `${key} has effects ${effects.map((effect) => effect.id).join(' and ')}`);
  }

  /**
   * A client was told that its write has this effect.
   *
   * @param bytes of the answer, if it was a stored one
   */
  answered({ key, body }: KeyedWrite, id: string, bytes: number): void {
    const write = this.#writeOf(key);
    if (!write.effects.some((effect) => effect.id === id && effect.body === body))
      this.#world.violate(
        'effects',
        `${key}: a client was told of ${id}, which the service did not execute for ${body}`,
      );
    const { answer, effects } = write;
    const isExcused = effects.some(
      (effect) => this.#isExcused(effect) || this.#rules.repeatsUnknown(effect.begunMs) === 'always',
    );
    if (answer !== undefined && answer.id !== id && !isExcused)
      this.#world.violate('effects', `${key}: one client was told of ${answer.id}, another of ${id}`);
    write.answer ??= { id, atMs: this.#world.now() };
    if (bytes > 0) write.given = { atMs: this.#world.now(), bytes };
    this.#checkStored();
  }

  /** A client was told that its write was executed, and that its answer was not stored. */
  notRetained({ key }: KeyedWrite): void {
    const fromMs = this.#world.now() - 2 * this.#rules.retainMs;
    const lately = [...this.#writes.values()].filter(({ effects }) => effects.some(({ atMs }) => atMs >= fromMs));
    const bytes = lately.length * ENTRY_MAX_BYTES;
    if (bytes <= this.#rules.bytesMax)
      this.#world.violate('bytes', `the answer for ${key} is not stored, although there is room for it`);
  }

  #checkStored(): void {
    const { bytesMax } = this.#rules;
    const fromMs = this.#world.now() - TOGETHER_MS;
    let bytes = 0;
    for (const { effects, given } of this.#writes.values())
      if (given !== undefined && given.atMs >= fromMs && effects.every(({ atMs }) => atMs < fromMs))
        bytes += given.bytes;
    if (bytes > 2 * bytesMax)
      this.#world.violate('bytes', `answers of ${bytes} bytes were stored at once, and ${bytesMax} may be in a span`);
  }

  #isExcused({ begunMs, sentMs }: Write['effects'][number]): boolean {
    const keptMs = this.#isBeyondBound() ? NOTED_MS : this.#rules.retainMs;
    return this.#rules.ageMs(begunMs) > keptMs * 0.9 || this.#rules.mayBeLost(begunMs, sentMs);
  }

  /** Whether there were ever more answers than may be stored. */
  #isBeyondBound(): boolean {
    return this.#writes.size * ENTRY_MAX_BYTES > this.#rules.bytesMax;
  }

  #writeOf(key: string): Write {
    const known = this.#writes.get(key) ?? { effects: [], answer: undefined, given: undefined };
    this.#writes.set(key, known);
    return known;
  }
}
