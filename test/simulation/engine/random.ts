// Random numbers from a seed. Each part of a simulation draws from a source of its own, so that leaving one part out does not change the
// others.

export interface Random {
  /** From 0 to 1, without 1. */
  next(): number;
  /** From 0 to `count`, without `count`. */
  below(count: number): number;
  between(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
  bytes(count: number): Buffer;
  /** A source whose numbers depend on the seed and this name only. */
  named(name: string): Random;
}

export function createRandom(seed: string): Random {
  let [a, b, c, d] = wordsOf(seed);

  /** The generator sfc32: small, fast and good enough to be fair. */
  function next(): number {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }
  for (let round = 0; round < 12; round += 1) next();

  const below = (count: number) => Math.floor(next() * count);
  return {
    next,
    below,
    between: (from, to) => from + next() * (to - from),
    chance: (probability) => next() < probability,
    pick<T>(values: readonly T[]): T {
      return values[below(values.length)] as T;
    },
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => below(256))),
    named: (name) => createRandom(`${seed}/${name}`),
  };
}

/** Four words that differ for different texts (FNV-1a, with another beginning for each). */
function wordsOf(text: string): [number, number, number, number] {
  const words = [0x811c9dc5, 0x01000193, 0x9e3779b9, 0x85ebca6b].map((start) => {
    let hash = start;
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    return hash | 0;
  });
  return words as [number, number, number, number];
}
