// One page of a list: filters first, then the records that follow the cursor's position in the order of the sort.
// Throws invalid_cursor and, through readQuery, validation_failed.
import type { SQLInputValue } from 'node:sqlite';
import type { CursorPosition, Cursors } from './cursor.ts';
import { type Database, foldCase } from './database.ts';
import type { FieldValue } from './kinds.ts';
import { type ListQuery, readQuery } from './query.ts';
import type { Filter, SandboxResource } from './resource.ts';
import { foldedOf, memberOf, orderOf, tagTableOf } from './schema.ts';
import { type Scope, shownOf } from './store.ts';

interface Row {
  readonly id: string;
  readonly shown: string;
  readonly position: string | number | null;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

// Sorts after every character that a name can go on with.
const LAST_CHARACTER = '\u{10FFFF}';

export type List = (scope: Scope, resource: SandboxResource, query: string) => string;

/** The list envelope as JSON text. */
export function createList(database: Database, cursors: Cursors): List {
  return function list(scope, resource, queryText) {
    const query = readQuery(resource, queryText);
    const bound = JSON.stringify([scope, resource.name, query.sort, query.filters]);
    const start = query.cursor === undefined ? undefined : cursors.open(bound, query.cursor);

    // One record more than requested shows whether there is another page.
    const rows = readRows(database, scope, resource, query, start, query.limit + 1);
    const page = rows.slice(0, query.limit);
    const last = rows.length > page.length ? page.at(-1) : undefined;
    const cursor = last ? cursors.seal(bound, { value: last.position, id: last.id }) : null;
    const data = page.map(({ shown }) => shown).join(',');
    return `{"data":[${data}],"cursor":${JSON.stringify(cursor)},"has_more":${last !== undefined}}`;
  };
}

/**
 * Records without a sort value come last in both directions, so they are read by a second statement, once the first has
 * run out. Each statement then walks an index, which a single ORDER BY with NULLS LAST could not.
 */
function readRows(
  database: Database,
  scope: Scope,
  resource: SandboxResource,
  query: ListQuery,
  start: CursorPosition | undefined,
  count: number,
): Row[] {
  const read = (part: Part, from: CursorPosition | undefined, limit: number): Row[] => {
    const { sql, values } = pageStatement(scope, resource, query, part, from);
    return database.all<Row>(sql, ...values, limit);
  };
  if (!query.order.nullable) return read('all', start, count);

  const valued = start?.value === null ? [] : read('valued', start, count);
  if (valued.length === count) return valued;
  const beginning = start?.value === null ? start : undefined;
  return [...valued, ...read('unvalued', beginning, count - valued.length)];
}

type Part = 'all' | 'valued' | 'unvalued';

function pageStatement(
  scope: Scope,
  resource: SandboxResource,
  query: ListQuery,
  part: Part,
  start: CursorPosition | undefined,
): Condition {
  const order = orderOf(query.order);
  const direction = query.descending ? 'DESC' : 'ASC';
  const ordered = part === 'unvalued' ? `id ${direction}` : `${order} ${direction}, id ${direction}`;
  const conditions: Condition[] = [
    { sql: 'scope = ?', values: [scope] },
    ...query.filters.flatMap(([name, value]) => conditionOf(scope, resource, resource.filters[name], value)),
  ];
  if (part !== 'all') conditions.push({ sql: `${order} IS ${part === 'valued' ? 'NOT ' : ''}NULL`, values: [] });
  if (start) conditions.push(following(order, query.descending, start));

  // The page is settled before anything is derived, so that hidden values are never computed.
  const sql = `WITH page AS MATERIALIZED (
      SELECT rowid AS line, ${order} AS position FROM ${resource.name}
      WHERE ${conditions.map((condition) => condition.sql).join(' AND ')} ORDER BY ${ordered} LIMIT ?)
    SELECT r.id AS id, ${shownOf(resource)} AS shown, page.position AS position
    FROM page CROSS JOIN ${resource.name} AS r ON r.rowid = page.line
    ORDER BY page.position ${direction}, r.id ${direction}`;
  return { sql, values: conditions.flatMap(({ values }) => values) };
}

/** The records after a position. Written out because SQLite does not search an index over expressions by row values. */
function following(order: string, descending: boolean, { value, id }: CursorPosition): Condition {
  const beyond = descending ? '<' : '>';
  if (value === null) return { sql: `id ${beyond} ?`, values: [id] };
  return { sql: `${order} ${beyond}= ? AND (${order} ${beyond} ? OR id ${beyond} ?)`, values: [value, value, id] };
}

function conditionOf(
  scope: Scope,
  resource: SandboxResource,
  filter: Filter | undefined,
  value: FieldValue,
): Condition[] {
  if (!filter) return [];
  const member = memberOf(filter.member);
  const operand = typeof value === 'boolean' ? Number(value) : String(value);
  switch (filter.comparison) {
    case 'equals':
      return [{ sql: `${member} = ?`, values: [operand] }];
    case 'after':
      return [{ sql: `${member} > ?`, values: [operand] }];
    case 'before':
      return [{ sql: `${member} < ?`, values: [operand] }];
    case 'prefix': {
      const [folded, prefix] = [foldedOf(filter.member), String(foldCase(operand))];
      return [{ sql: `${folded} >= ? AND ${folded} < ?`, values: [prefix, `${prefix}${LAST_CHARACTER}`] }];
    }
    case 'tagged': {
      const tags = tagTableOf(resource, filter.member);
      return [{ sql: `id IN (SELECT id FROM ${tags} WHERE scope = ? AND tag = ?)`, values: [scope, operand] }];
    }
  }
}
