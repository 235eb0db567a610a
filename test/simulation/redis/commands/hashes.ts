// Commands on hashes.

import { type Dataset, integer } from '../dataset.ts';
import { fail } from '../reply.ts';
import { type Commands, pairsOf } from './command.ts';

const hashAt = (data: Dataset, key: string) => data.read(key, 'hash');
const changedHash = (data: Dataset, key: string) => data.change(key, 'hash', () => new Map());

function requireInteger(text: string): number {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) fail('ERR hash value is not an integer');
  return Number(text);
}

export const hashCommands: Commands = {
  hget: { arity: 3, run: (data, [key = '', field = '']) => hashAt(data, key)?.get(field) ?? null },
  hmget: {
    arity: -3,
    run(data, [key = '', ...fields]) {
      const hash = hashAt(data, key);
      return fields.map((field) => hash?.get(field) ?? null);
    },
  },
  hgetall: { arity: 2, run: (data, [key = '']) => [...(hashAt(data, key) ?? [])].flat() },
  hkeys: { arity: 2, run: (data, [key = '']) => [...(hashAt(data, key)?.keys() ?? [])] },
  hexists: { arity: 3, run: (data, [key = '', field = '']) => (hashAt(data, key)?.has(field) ? 1 : 0) },
  hlen: { arity: 2, run: (data, [key = '']) => hashAt(data, key)?.size ?? 0 },
  /** One page has all of them. */
  hscan: {
    arity: -3,
    run: (data, [key = '', cursor = '']) => {
      if (!/^\d+$/.test(cursor)) fail('ERR invalid cursor');
      return ['0', [...(hashAt(data, key) ?? [])].flat()];
    },
  },
  hset: {
    arity: -4,
    writes: true,
    allocates: true,
    run(data, [key = '', ...fields]) {
      if (fields.length % 2 === 1) fail("ERR wrong number of arguments for 'hset' command");
      const hash = changedHash(data, key);
      const before = hash.size;
      for (const [field, value] of pairsOf(fields)) hash.set(field, value);
      return hash.size - before;
    },
  },
  hsetnx: {
    arity: 4,
    writes: true,
    allocates: true,
    run(data, [key = '', field = '', value = '']) {
      const hash = changedHash(data, key);
      if (hash.has(field)) return 0;
      hash.set(field, value);
      return 1;
    },
  },
  hdel: {
    arity: -3,
    writes: true,
    run(data, [key = '', ...fields]) {
      const hash = hashAt(data, key);
      if (hash === undefined) return 0;
      const removed = fields.filter((field) => hash.delete(field)).length;
      data.removeIfEmpty(key, hash.size);
      return removed;
    },
  },
  hincrby: {
    arity: 4,
    writes: true,
    allocates: true,
    run(data, [key = '', field = '', amount = '']) {
      const by = integer(amount);
      const before = requireInteger(hashAt(data, key)?.get(field) ?? '0');
      changedHash(data, key).set(field, String(before + by));
      return before + by;
    },
  },
};
