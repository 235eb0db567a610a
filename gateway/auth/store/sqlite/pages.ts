// Reads a whole table of the embedded key store without holding it: page by page, with nothing left open in between.

import type { SQLOutputValue, StatementSync } from 'node:sqlite';

type Row = Record<string, SQLOutputValue>;

const PAGE = 1000;

/** The statement selects what comes after its first parameter, in that order, at most as many as its second; never an empty page. */
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
    // A page that is not full is the last one: whoever writes during the scan must not make it endless.
    if (rows.length < PAGE) return;
    position = positionOf(last);
  }
}
