// Cuts an answer that is too long for a model: at whole records of its longest list, so that what is left is still true. Pure.

import { isRecord } from './wire.ts';

interface Cut {
  readonly value: unknown;
  readonly shown: number;
  readonly total: number;
}

/** Returns the value with fewer records, at most so many bytes of JSON; undefined if it has no list, or one record is too long already. */
export function cutRecords(value: unknown, bytesMax: number): Cut | undefined {
  const list = longestListOf(value);
  if (list === undefined) return undefined;
  const { records, put } = list;
  const frame = Buffer.byteLength(JSON.stringify(put([])));
  let bytes = frame;
  let shown = 0;
  for (const record of records) {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    if (bytes > bytesMax) break;
    shown += 1;
  }
  if (shown === 0) return undefined;
  return { value: put(records.slice(0, shown)), shown, total: records.length };
}

interface FoundList {
  readonly records: readonly unknown[];
  /** Returns the value with other records. */
  put(records: readonly unknown[]): unknown;
}

/** The value itself, or the member that takes the most bytes. */
function longestListOf(value: unknown): FoundList | undefined {
  if (Array.isArray(value)) return { records: value, put: (records) => records };
  if (!isRecord(value)) return undefined;
  const lists = Object.entries(value).flatMap(([name, member]) =>
    Array.isArray(member) ? [{ name, records: member, bytes: JSON.stringify(member).length }] : [],
  );
  const [longest] = lists.sort((one, other) => other.bytes - one.bytes);
  if (longest === undefined) return undefined;
  const { name, records } = longest;
  const members = Object.entries(value);
  return {
    records,
    put: (kept) => Object.fromEntries(members.map(([key, member]) => [key, key === name ? kept : member])),
  };
}
