// A sorted set: members with scores, in the order of score and then of bytes.

import { formatNumber } from './lua/values.ts';
import { fail } from './reply.ts';

interface ScoreRange {
  readonly from: number;
  readonly fromExcluded: boolean;
  readonly to: number;
  readonly toExcluded: boolean;
}

export class SortedSet {
  readonly #scores = new Map<string, number>();
  #sorted: readonly string[] | undefined;

  get size(): number {
    return this.#scores.size;
  }

  score(member: string): number | undefined {
    return this.#scores.get(member);
  }

  set(member: string, score: number): void {
    this.#scores.set(member, score);
    this.#sorted = undefined;
  }

  delete(member: string): boolean {
    this.#sorted = undefined;
    return this.#scores.delete(member);
  }

  /** Sorted once after each change. */
  members(): readonly string[] {
    this.#sorted ??= [...this.#scores]
      .sort(([one, a], [other, b]) => a - b || (one < other ? -1 : 1))
      .map(([member]) => member);
    return this.#sorted;
  }

  within({ from, fromExcluded, to, toExcluded }: ScoreRange): string[] {
    return this.members().filter((member) => {
      const score = this.#scores.get(member) as number;
      return (fromExcluded ? score > from : score >= from) && (toExcluded ? score < to : score <= to);
    });
  }

  copy(): SortedSet {
    const made = new SortedSet();
    for (const [member, score] of this.#scores) made.#scores.set(member, score);
    return made;
  }
}

/** Reads the bounds of ZRANGEBYSCORE and its like. */
export function scoreRange(from: string, to: string): ScoreRange {
  const [fromExcluded, toExcluded] = [from.startsWith('('), to.startsWith('(')];
  const bounds = [from.slice(Number(fromExcluded)), to.slice(Number(toExcluded))].map(score);
  const [first, last] = bounds;
  if (first === undefined || last === undefined) fail('ERR min or max is not a float');
  return { from: first, fromExcluded, to: last, toExcluded };
}

/** Undefined: the text is no score. */
export function score(text: string): number | undefined {
  if (/^[-+]?inf(inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text) ? Number(text) : undefined;
}

/** A score as Redis writes it. */
export function scoreText(value: number): string {
  return formatNumber(value, 17);
}
