// What a command of the model is.

import type { Dataset } from '../dataset.ts';
import type { Reply } from '../reply.ts';

export interface Command {
  /** Number of arguments with the name; negative: at least so many. */
  readonly arity: number;
  /** It changes data. */
  readonly writes?: true;
  /** It may need memory: a full server refuses it. */
  readonly allocates?: true;
  run(data: Dataset, args: readonly string[]): Reply;
}

export type Commands = Readonly<Record<string, Command>>;

/** The part of a list from one index to another, both included; negative ones count from the end. */
export function slice<T>(values: readonly T[], from: number, to: number): T[] {
  const begin = from < 0 ? Math.max(0, values.length + from) : from;
  const end = to < 0 ? values.length + to : to;
  return begin > end ? [] : values.slice(begin, end + 1);
}

export function pairsOf(args: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at < args.length; at += 2) pairs.push([args[at] as string, args[at + 1] as string]);
  return pairs;
}
