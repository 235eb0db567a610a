// Commands on sorted sets.

import { type Dataset, integer } from '../dataset.ts';
import { fail } from '../reply.ts';
import { SortedSet, score, scoreRange, scoreText } from '../sorted-set.ts';
import { type Commands, pairsOf, slice } from './command.ts';

const setAt = (data: Dataset, key: string) => data.read(key, 'zset');

/** Members with their scores, if these are asked for, within LIMIT. */
function listed(set: SortedSet, members: readonly string[], options: readonly string[]): string[] {
  const names = options.map((option) => option.toUpperCase());
  const limit = names.indexOf('LIMIT');
  let shown = members;
  if (limit >= 0) {
    const [offset, count] = [integer(options[limit + 1] ?? ''), integer(options[limit + 2] ?? '')];
    shown = offset < 0 ? [] : members.slice(offset, count < 0 ? undefined : offset + count);
  }
  if (!names.includes('WITHSCORES')) return [...shown];
  return shown.flatMap((member) => [member, scoreText(set.score(member) as number)]);
}

/** Members by their places, with their scores if these are asked for. */
function ranked(
  data: Dataset,
  [key = '', from = '', to = '', ...options]: readonly string[],
  inOrder: (members: readonly string[]) => readonly string[],
): string[] {
  if (options.some((option) => option.toUpperCase() !== 'WITHSCORES')) fail('ERR syntax error');
  const [first, last] = [integer(from), integer(to)];
  const set = setAt(data, key);
  return set === undefined ? [] : listed(set, slice(inOrder(set.members()), first, last), options);
}

export const sortedSetCommands: Commands = {
  zcard: { arity: 2, run: (data, [key = '']) => setAt(data, key)?.size ?? 0 },
  zscore: {
    arity: 3,
    run(data, [key = '', member = '']) {
      const found = setAt(data, key)?.score(member);
      return found === undefined ? null : scoreText(found);
    },
  },
  zrank: {
    arity: -3,
    run(data, [key = '', member = '']) {
      const index = setAt(data, key)?.members().indexOf(member) ?? -1;
      return index < 0 ? null : index;
    },
  },
  zrange: { arity: -4, run: (data, args) => ranked(data, args, (members) => members) },
  zrevrange: { arity: -4, run: (data, args) => ranked(data, args, (members) => members.toReversed()) },
  zrangebyscore: {
    arity: -4,
    run(data, [key = '', from = '', to = '', ...options]) {
      const range = scoreRange(from, to);
      const set = setAt(data, key);
      return set === undefined ? [] : listed(set, set.within(range), options);
    },
  },
  zrevrangebyscore: {
    arity: -4,
    run(data, [key = '', to = '', from = '', ...options]) {
      const range = scoreRange(from, to);
      const set = setAt(data, key);
      return set === undefined ? [] : listed(set, set.within(range).reverse(), options);
    },
  },
  zadd: {
    arity: -4,
    writes: true,
    allocates: true,
    run(data, [key = '', ...args]) {
      const updates = args[0]?.toUpperCase() === 'XX';
      const rest = updates ? args.slice(1) : args;
      if (rest.length === 0 || rest.length % 2 === 1) fail('ERR syntax error');
      const added = pairsOf(rest).map(([text, member]) => ({
        member,
        score: score(text) ?? fail('ERR value is not a valid float'),
      }));
      if (updates && setAt(data, key) === undefined) return 0;
      const set = data.change(key, 'zset', () => new SortedSet());
      const before = set.size;
      for (const { member, score } of added) if (!updates || set.score(member) !== undefined) set.set(member, score);
      return set.size - before;
    },
  },
  zrem: {
    arity: -3,
    writes: true,
    run(data, [key = '', ...members]) {
      const set = setAt(data, key);
      if (set === undefined) return 0;
      const removed = members.filter((member) => set.delete(member)).length;
      data.removeIfEmpty(key, set.size);
      return removed;
    },
  },
  zremrangebyscore: {
    arity: 4,
    writes: true,
    run(data, [key = '', from = '', to = '']) {
      const range = scoreRange(from, to);
      const set = setAt(data, key);
      if (set === undefined) return 0;
      const removed = set.within(range);
      for (const member of removed) set.delete(member);
      data.removeIfEmpty(key, set.size);
      return removed.length;
    },
  },
};
