// Reads a whole table of the embedded key store page by page, with no statement left open in between.

import type { SQLOutputValue, StatementSync } from 'node:sqlite';

type Row = Record<string, SQLOutputValue>;

const PAGE = 1000;

/** The statement selects the rows after its first parameter, in order, at most as many as its second. Never yields an empty page. */
export async function* inSqlitePages<T, P extends string | number>(
  select: StatementSync,
  before: P,
  positionOf: (row: Row) => P,
  recordOf: (row: Row) => T,
): AsyncGenerator<readonly T[]> {
  for (let position = before; ; ) {
    const rows = select.all(position, PAGE);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(recordOf);
    // A page that is not full is the last one: rows written during the scan must not make it endless.
    if (rows.length < PAGE) return;
    position = positionOf(last);
  }
}
