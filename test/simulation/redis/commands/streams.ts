// Commands on streams.

import { type Dataset, integer, type StreamEntry } from '../dataset.ts';
import { fail, type Reply } from '../reply.ts';
import type { Commands } from './command.ts';

type Id = Pick<StreamEntry, 'milliseconds' | 'number'>;

const INVALID_ID = 'ERR Invalid stream ID specified as stream command argument';
const LEAST: Id = { milliseconds: 0, number: 0 };
const MOST: Id = { milliseconds: Number.MAX_VALUE, number: Number.MAX_VALUE };

function idOf(text: string, otherwise: number): Id {
  if (text === '-') return LEAST;
  if (text === '+') return MOST;
  const [, milliseconds, number] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? fail(INVALID_ID);
  return { milliseconds: Number(milliseconds), number: number === undefined ? otherwise : Number(number) };
}

const compare = (one: Id, other: Id) => one.milliseconds - other.milliseconds || one.number - other.number;

/** The entries between two bounds, oldest first. A bound with a parenthesis is excluded. */
function between(data: Dataset, key: string, from: string, to: string): readonly StreamEntry[] {
  const [begin, end] = [idOf(from.replace(/^\(/, ''), 0), idOf(to.replace(/^\(/, ''), Number.MAX_VALUE)];
  const entries = data.read(key, 'stream')?.entries ?? [];
  const first = indexWhere(entries, (id) => (from.startsWith('(') ? compare(id, begin) > 0 : compare(id, begin) >= 0));
  const last = indexWhere(entries, (id) => (to.startsWith('(') ? compare(id, end) >= 0 : compare(id, end) > 0));
  return entries.slice(first, last);
}

/** The first entry that satisfies a test which all behind it satisfy, too. */
function indexWhere(entries: readonly StreamEntry[], satisfies: (id: Id) => boolean): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (satisfies(entries[middle] as StreamEntry)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function shown(data: Dataset, key: string, entries: readonly StreamEntry[], options: readonly string[]): Reply {
  const at = options.findIndex((option) => option.toUpperCase() === 'COUNT');
  const count = at < 0 ? Number.POSITIVE_INFINITY : Number(options[at + 1]);
  if (count <= 0 && data.entry(key) !== undefined) return null;
  return entries.slice(0, count).map(({ milliseconds, number, fields }) => [`${milliseconds}-${number}`, fields]);
}

export const streamCommands: Commands = {
  xlen: { arity: 2, run: (data, [key = '']) => data.read(key, 'stream')?.entries.length ?? 0 },
  xrange: {
    arity: -4,
    run: (data, [key = '', from = '', to = '', ...options]) => shown(data, key, between(data, key, from, to), options),
  },
  xrevrange: {
    arity: -4,
    run: (data, [key = '', to = '', from = '', ...options]) =>
      shown(data, key, between(data, key, from, to).toReversed(), options),
  },
  xadd: {
    arity: -5,
    writes: true,
    allocates: true,
    run(data, [key = '', ...args]) {
      const isTrimmed = args[0]?.toUpperCase() === 'MAXLEN';
      const [text = '', ...fields] = isTrimmed ? args.slice(2) : args;
      if (fields.length % 2 === 1) fail("ERR wrong number of arguments for 'xadd' command");
      const id = idOf(text, 0);
      if (compare(id, LEAST) <= 0) fail('ERR The ID specified in XADD must be greater than 0-0');
      const last = data.read(key, 'stream')?.last ?? LEAST;
      if (compare(id, last) <= 0)
        fail('ERR The ID specified in XADD is equal or smaller than the target stream top item');
      const stream = data.change(key, 'stream', () => ({ entries: [], last: LEAST }));
      stream.entries.push({ ...id, fields });
      stream.last = id;
      if (isTrimmed) stream.entries.splice(0, stream.entries.length - integer(args[1] ?? ''));
      return `${id.milliseconds}-${id.number}`;
    },
  },
};
