// Checks from outside that an organization never has more keys that work than it may have, and that none is refused while there is room. It
// knows what those who change keys have asked and were told.

import type { Deployment } from '../deployment.ts';

/** The clocks of two gateways differ by two seconds at most. */
const CLOCKS_DIFFER_MS = 3000;

interface Key {
  /** When its making was confirmed; Infinity: it may exist. */
  madeMs: number;
  /** From here on it may not work any more. */
  endsAfterMs: number;
  /** From here on it does not work for certain. */
  endedByMs: number;
}

export class BoundChecker {
  readonly #deployment: Deployment;
  readonly #most: number;
  readonly #keys = new Map<string, Key>();

  constructor(deployment: Deployment, most: number) {
    this.#deployment = deployment;
    this.#most = most;
  }

  /** Keys that work for certain. */
  working(): readonly string[] {
    return [...this.#keys].filter(([, key]) => this.#works(key)).map(([id]) => id);
  }

  /**
   * Someone asks for it. Returns what to call with the answer.
   *
   * @param replaced the key that it replaces
   */
  asked(id: string, replaced?: string) {
    const never = Number.POSITIVE_INFINITY;
    const key: Key = { madeMs: never, endsAfterMs: never, endedByMs: never };
    this.#keys.set(id, key);
    const askedMs = this.#now();
    return {
      made: () => {
        key.madeMs = this.#now();
        const working = this.working().length;
        if (working > this.#most) this.#violate(`${working} keys work, and ${this.#most} may`);
      },
      /** @param needed how many keys more would have worked, without the one that it replaces */
      refused: (needed: number) => {
        this.#keys.delete(id);
        const room = this.#roomSince(askedMs, replaced);
        if (room >= needed && this.#deployment.disturbances.isCalmSince(askedMs))
          this.#violate(`${id} is refused, although there was room for ${room} more`);
      },
      notMade: () => void this.#keys.delete(id),
    };
  }

  /** Someone ends it, now or at a moment to come. Returns what to call when that is confirmed. */
  ends(id: string, atMs = this.#now()): () => void {
    const key = this.#keys.get(id);
    if (key === undefined) return () => undefined;
    key.endsAfterMs = Math.min(key.endsAfterMs, atMs - (atMs > this.#now() ? CLOCKS_DIFFER_MS : 0));
    return () => {
      key.endedByMs = Math.min(key.endedByMs, Math.max(atMs, this.#now()) + CLOCKS_DIFFER_MS);
    };
  }

  /** How many more may work, whatever has become of the keys whose fate is unknown. */
  #roomSince(fromMs: number, replaced: string | undefined): number {
    if (this.#deployment.redis.losses().length > 0) return Number.NEGATIVE_INFINITY;
    return this.#most - [...this.#keys].filter(([id, key]) => id !== replaced && key.endedByMs > fromMs).length;
  }

  #works({ madeMs, endsAfterMs }: Key): boolean {
    const isLost = this.#deployment.redis.losses().some(({ atMs, sinceMs }) => atMs >= madeMs && sinceMs <= madeMs);
    return madeMs <= this.#now() && endsAfterMs > this.#now() && !isLost;
  }

  #now(): number {
    return this.#deployment.world.now();
  }

  #violate(sentence: string): void {
    this.#deployment.world.violate('bound', sentence);
  }
}
