// The tables and indexes that the descriptions of the resources need. A record is one JSON text; filters and sorts read members out of it
// by expressions that are indexed.
import { referencesOf } from './catalogue.ts';
import { type Filter, type SandboxResource, type Sort, sortsOf } from './resource.ts';

// A cursor carries the value its list is sorted by, and the contract bounds a cursor to 1,024 characters.
const SORT_CHARACTERS = 160;

/** The SQL expression for a member; exactly this text makes the indexes below usable. */
export const memberOf = (member: string): string => `json_extract(record, '$.${member}')`;
export const foldedOf = (member: string): string => `fold(${memberOf(member)})`;

/** The order of a list: the member, or as much of a long text as fits into a cursor. */
export function orderOf({ member, long }: Sort): string {
  return long ? `substr(${memberOf(member)}, 1, ${SORT_CHARACTERS})` : memberOf(member);
}

export const tagTableOf = (resource: SandboxResource, member: string): string => `${resource.name}_${member}`;

export function schemaOf(resources: readonly SandboxResource[]): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS idempotency (
      scope TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL, location TEXT,
      body TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (scope, key)) STRICT`,
    'CREATE INDEX IF NOT EXISTS idempotency_age ON idempotency (created_at)',
    `CREATE TABLE IF NOT EXISTS sequences (
      scope TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (scope, name)) STRICT`,
    ...resources.flatMap(schemaOfResource),
  ];
}

function schemaOfResource(resource: SandboxResource): string[] {
  const { name } = resource;
  const filters = Object.entries(resource.filters);
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (
      scope TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL, UNIQUE (scope, id)) STRICT`,
    ...Object.entries(sortsOf(resource)).map(([sort, order]) => index(name, `by_${sort}`, [orderOf(order)])),
    ...filters.flatMap(([filter, description]) => indexesOfFilter(resource, filter, description)),
    ...keptReferences(resource).map((member) =>
      index(name, `to_${member.replaceAll(/\W+/g, '_')}`, [memberOf(member)]),
    ),
    ...filters.flatMap(([, { comparison, member }]) => (comparison === 'tagged' ? tagsOf(resource, member) : [])),
  ];
}

/** An equality filter is combined with every sort, so that a filtered page is as cheap as an unfiltered one. */
function indexesOfFilter(resource: SandboxResource, filter: string, { comparison, member }: Filter): string[] {
  if (comparison === 'prefix') return [index(resource.name, `with_${filter}`, [foldedOf(member)])];
  if (comparison !== 'equals') return [];
  return Object.entries(sortsOf(resource)).map(([sort, order]) =>
    index(resource.name, `with_${filter}_by_${sort}`, [memberOf(member), orderOf(order)]),
  );
}

/** References that no filter has an index for: a delete looks through them. */
function keptReferences(resource: SandboxResource): string[] {
  const filtered = Object.values(resource.filters).map(({ member }) => member);
  const all = [...referencesOf(resource), ...(resource.traces ?? [])].map(({ member }) => member);
  return all.filter((member) => !filtered.includes(member));
}

function index(table: string, suffix: string, expressions: readonly string[]): string {
  return `CREATE INDEX IF NOT EXISTS ${table}_${suffix} ON ${table} (${['scope', ...expressions, 'id'].join(', ')})`;
}

/** A list of tags cannot be indexed as it stands: triggers keep a table of them. */
function tagsOf(resource: SandboxResource, member: string): string[] {
  const [table, tags] = [resource.name, tagTableOf(resource, member)];
  const clear = `DELETE FROM ${tags} WHERE scope = old.scope AND id = old.id;`;
  const fill = `INSERT OR IGNORE INTO ${tags} SELECT new.scope, value, new.id FROM json_each(new.record, '$.${member}');`;
  return [
    `CREATE TABLE IF NOT EXISTS ${tags} (
      scope TEXT NOT NULL, tag TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (scope, tag, id)) STRICT, WITHOUT ROWID`,
    `CREATE INDEX IF NOT EXISTS ${tags}_by_record ON ${tags} (scope, id)`,
    `CREATE TRIGGER IF NOT EXISTS ${tags}_fill AFTER INSERT ON ${table} BEGIN ${fill} END`,
    `CREATE TRIGGER IF NOT EXISTS ${tags}_refill AFTER UPDATE ON ${table} BEGIN ${clear} ${fill} END`,
    `CREATE TRIGGER IF NOT EXISTS ${tags}_clear AFTER DELETE ON ${table} BEGIN ${clear} END`,
  ];
}
