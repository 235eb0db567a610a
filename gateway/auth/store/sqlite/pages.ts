// Reads a whole table of the embedded key store page by page, with no statement left open in between.

import type { SQLOutputValue } from 'node:sqlite';

type Row = Record<string, SQLOutputValue>;

const PAGE = 1000;

/** @param select the rows behind a position, in order, at most `limit`. Never yields an empty page. */
export async function* inSqlitePages<T, P extends string | number>(
  select: (position: P, limit: number) => readonly Row[],
  before: P,
  positionOf: (row: Row) => P,
  recordOf: (row: Row) => T,
): AsyncGenerator<readonly T[]> {
  for (let position = before; ; ) {
    const rows = select(position, PAGE);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(recordOf);
    // A page that is not full is the last one: rows written during the scan must not make it endless.
    if (rows.length < PAGE) return;
    position = positionOf(last);
  }
}
