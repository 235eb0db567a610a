// Commands on keys of any type, and on texts.

import { type Dataset, integer } from '../dataset.ts';
import { fail, OK, Status } from '../reply.ts';
import type { Commands } from './command.ts';

function expire(data: Dataset, [key, amount]: readonly string[], unitMs: number, fromMs: number) {
  return data.expireAt(key as string, fromMs + integer(amount as string) * unitMs) ? 1 : 0;
}

function timeLeft(data: Dataset, key: string, unitMs: number): number {
  const found = data.entry(key);
  if (found === undefined) return -2;
  if (found.expiresAtMs === Number.POSITIVE_INFINITY) return -1;
  const leftMs = Math.max(0, found.expiresAtMs - data.now());
  return unitMs === 1 ? leftMs : Math.floor((leftMs + 500) / 1000);
}

const matcherOf = (pattern: string) =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\*/g, '.*')
      .replace(/\?/g, '.')}$`,
  );

export const keyCommands: Commands = {
  del: {
    arity: -2,
    writes: true,
    run: (data, keys) => keys.filter((key) => data.remove(key)).length,
  },
  exists: { arity: -2, run: (data, keys) => keys.filter((key) => data.entry(key) !== undefined).length },
  type: { arity: 2, run: (data, [key = '']) => new Status(data.entry(key)?.type ?? 'none') },
  expire: { arity: -3, writes: true, run: (data, args) => expire(data, args, 1000, data.now()) },
  pexpire: { arity: -3, writes: true, run: (data, args) => expire(data, args, 1, data.now()) },
  expireat: { arity: -3, writes: true, run: (data, args) => expire(data, args, 1000, 0) },
  pexpireat: { arity: -3, writes: true, run: (data, args) => expire(data, args, 1, 0) },
  ttl: { arity: 2, run: (data, [key = '']) => timeLeft(data, key, 1000) },
  pttl: { arity: 2, run: (data, [key = '']) => timeLeft(data, key, 1) },
  rename: {
    arity: 3,
    writes: true,
    run: (data, [from = '', to = '']) => (data.rename(from, to) ? OK : fail('ERR no such key')),
  },
  flushall: {
    arity: -1,
    writes: true,
    run(data) {
      data.clear();
      return OK;
    },
  },
  /** One page has all of them. */
  scan: {
    arity: -2,
    run(data, args) {
      const option = (name: string) => args[args.findIndex((arg) => arg.toUpperCase() === name) + 1];
      const isWanted = args.includes('MATCH') ? matcherOf(option('MATCH') ?? '*') : undefined;
      const type = args.includes('TYPE') ? option('TYPE') : undefined;
      const found = data.keys().filter((key) => isWanted?.test(key) ?? true);
      return ['0', type === undefined ? found : found.filter((key) => data.entry(key)?.type === type)];
    },
  },
  get: { arity: 2, run: (data, [key = '']) => data.read(key, 'string') ?? null },
  set: {
    arity: -3,
    writes: true,
    allocates: true,
    run(data, [key = '', value = '', ...options]) {
      const { condition, expiresAtMs } = setOptions(data, options);
      const isThere = data.entry(key) !== undefined;
      if ((condition === 'NX' && isThere) || (condition === 'XX' && !isThere)) return null;
      data.setText(key, value, expiresAtMs);
      return OK;
    },
  },
  incrby: {
    arity: 3,
    writes: true,
    allocates: true,
    run(data, [key = '', amount = '']) {
      const by = integer(amount);
      const before = integer(data.read(key, 'string') ?? '0');
      data.replaceText(key, String(before + by));
      return before + by;
    },
  },
};

function setOptions(data: Dataset, options: readonly string[]) {
  let condition: 'NX' | 'XX' | undefined;
  let expiresAtMs: number | undefined;
  for (let at = 0; at < options.length; at += 1) {
    const option = (options[at] as string).toUpperCase();
    if (option === 'NX' || option === 'XX') condition = option;
    else if (option === 'PX' || option === 'EX') {
      at += 1;
      expiresAtMs = data.now() + integer(options[at] ?? '') * (option === 'PX' ? 1 : 1000);
    } else fail('ERR syntax error');
  }
  return { condition, expiresAtMs };
}
