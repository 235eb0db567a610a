// Converts keys and organizations to and from their form in the Redis key store. A column is a hash with one value for each id. The first
// column contains the record, a text with the members that have no column of their own. A record has no entry in a column whose value is
// empty, such as the expiry of a key that does not expire. All records are read page by page.

import type { Organization } from '../../../exchange/caller.ts';
import type { StoredKey } from '../stored-key.ts';
import type { Columns } from './key-store-script.ts';

/** Lua functions that read and write keys. The arguments of a key are its id, digest, organization, and its columns. */
export const KEY_FUNCTIONS = `
local KEY_COLUMNS = { 'keys', 'ends', 'revocations', 'successors', 'uses' }

local function key_exists(at)
  return call('HEXISTS', base .. 'keys', ARGV[at]) == 1 or call('HEXISTS', base .. 'digests', ARGV[at + 1]) == 1
end

-- Writes the keys whose arguments begin at these indexes.
local function insert_keys(indexes)
  local there = call('LLEN', base .. 'key_order')
  local digests, order = {}, {}
  for number, at in ipairs(indexes) do
    local id, digest, organization = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    digests[2 * number - 1], digests[2 * number], order[number] = digest, id, id
    call('ZADD', base .. 'keys_of:' .. organization, there + number, id)
  end
  write_all('HSET', 'digests', digests)
  write_columns(KEY_COLUMNS, indexes, 3)
  write_all('RPUSH', 'key_order', order)
end

-- The first line of a record is its organization, so that scripts need not parse the rest.
local function organization_of(record)
  return string.match(record, '^[^\\n]*')
end
`;

/** Number of script arguments per key. */
export const KEY_ARGUMENTS = 8;

interface Revocation {
  readonly at: number;
  readonly by?: string;
  readonly reason?: string;
}

export function keyArguments(key: StoredKey): string[] {
  const { id, digest, organization, expiresAtMs, revokedAtMs, replacedBy, lastUsedAtMs } = key;
  const revocation = revokedAtMs === undefined ? '' : revocationOf(revokedAtMs, key.revokedBy, key.revokedReason);
  const columns = [recordOf(key), expiresAtMs ?? '', revocation, replacedBy ?? '', lastUsedAtMs ?? ''];
  return [id, digest, organization, ...columns.map(String)];
}

export function revocationOf(at: number, by: string | undefined, reason: string | undefined): string {
  return JSON.stringify({ at, by, reason });
}

/** Converts the columns that a script returns to keys; leaves out ids that do not exist. */
export function keysOf(columns: unknown): StoredKey[] {
  const [ids = [], ...values] = columns as Columns;
  return ids.flatMap((id, index) => {
    const [record, ends, revocation, successor, used] = values.map((column) => column[index]);
    if (!record) return [];
    const revoked: Partial<Revocation> = revocation ? JSON.parse(revocation) : {};
    return {
      id,
      ...readRecord(record),
      expiresAtMs: timeOf(ends),
      revokedAtMs: revoked.at,
      revokedBy: revoked.by,
      revokedReason: revoked.reason,
      lastUsedAtMs: timeOf(used),
      replacedBy: successor ?? undefined,
    };
  });
}

function timeOf(text: string | null | undefined): number | undefined {
  return text ? Number(text) : undefined;
}

/** The members of a key that its record contains. */
type RecordMembers = Pick<
  StoredKey,
  | 'digest'
  | 'organization'
  | 'mode'
  | 'name'
  | 'scopes'
  | 'allowedCidrs'
  | 'prefix'
  | 'lastFour'
  | 'createdAtMs'
  | 'createdBy'
>;

function recordOf({ digest, organization, mode, name, scopes, allowedCidrs, prefix, lastFour, ...key }: StoredKey) {
  const { createdAtMs, createdBy } = key;
  const rest = { digest, mode, name, scopes, allowedCidrs, prefix, lastFour, createdAtMs, createdBy };
  return `${organization}\n${JSON.stringify(rest)}`;
}

function readRecord(record: string): RecordMembers {
  const end = record.indexOf('\n');
  return { organization: record.slice(0, end), ...JSON.parse(record.slice(end + 1)) };
}

export const SUSPENDED = '1';

/** Number of script arguments per organization, in this order: id, record, tier, suspension. */
export const ORGANIZATION_ARGUMENTS = 4;

/** Lua functions that read and write organizations. */
export const ORGANIZATION_FUNCTIONS = `
local ORGANIZATION_COLUMNS = { 'organizations', 'tiers', 'suspensions' }

local function organization_exists(id)
  return call('HEXISTS', base .. 'organizations', id) == 1
end

-- Writes the organizations whose arguments begin at these indexes.
local function insert_organizations(indexes)
  local order = {}
  for number, at in ipairs(indexes) do order[number] = ARGV[at] end
  write_columns(ORGANIZATION_COLUMNS, indexes, 1)
  write_all('RPUSH', 'organization_order', order)
end
`;

export function organizationArguments({ id, name, tier, state, contacts, operator }: Organization): string[] {
  return [id, JSON.stringify({ name, contacts, operator }), tier, state === 'suspended' ? SUSPENDED : ''];
}

/** Converts the columns that a script returns to organizations; leaves out ids that do not exist. */
export function organizationsOf(columns: unknown): Organization[] {
  const [ids = [], records = [], tiers = [], suspensions = []] = columns as Columns;
  return ids.flatMap((id, index) => {
    const record = records[index];
    if (!record) return [];
    const { name, contacts, operator } = JSON.parse(record);
    const state = suspensions[index] === SUSPENDED ? 'suspended' : 'active';
    return { id, name, tier: tiers[index] ?? '', state, contacts, operator };
  });
}

/** Collecting a page blocks Redis for about a millisecond. */
const PAGE = 500;

/**
 * Reads all records, page by page. Positions stay valid while other clients write, because the lists grow at the end only.
 *
 * @param from the position of the first record
 */
export async function* inRedisPages<T>(
  read: (first: number, last: number) => Promise<unknown>,
  recordsOf: (columns: unknown) => readonly T[],
  from = 0,
): AsyncGenerator<readonly T[]> {
  for (let first = from; ; first += PAGE) {
    const page = recordsOf(await read(first, first + PAGE - 1));
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
  }
}

export async function allOf<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}
