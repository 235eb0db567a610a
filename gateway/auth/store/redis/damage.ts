// Finds and mends damage of the Redis key store. A Redis that evicts deletes whole names, such as all digests, and keeps the others. The
// index is rebuilt from the records; lost records come back with an import.

import type { Redis } from '../../../redis/client.ts';
import { evaluate, toScript } from '../../../redis/sealed-script.ts';
import type { RunScript } from './key-store-connection.ts';
import { META, toStoreScript } from './key-store-script.ts';

/** Names with equal numbers of entries in an undamaged store, records first. */
const ALIKE = {
  keys: ['keys', 'digests', 'key_order'],
  organizations: ['organizations', 'tiers', 'organization_order'],
} as const;

/** A Lua function: `damage` returns a text with the parts of the index that have too few entries; empty if there are none. */
export const DAMAGE_FUNCTIONS = `
local function size(name)
  local kind = call('TYPE', base .. name).ok
  return kind == 'hash' and call('HLEN', base .. name) or kind == 'list' and call('LLEN', base .. name) or 0
end

local function damage()
  local found = {}
  for _, names in ipairs({ { '${ALIKE.keys.join("', '")}' }, { '${ALIKE.organizations.join("', '")}' } }) do
    local sizes, most = {}, 0
    for at, name in ipairs(names) do
      sizes[at] = size(name)
      if sizes[at] > most then most = sizes[at] end
    end
    for at, name in ipairs(names) do
      if sizes[at] < most then found[#found + 1] = name .. ': ' .. sizes[at] .. ' of ' .. most end
    end
  end
  if #found > 0 and call('EXISTS', meta) == 0 then found[#found + 1] = 'meta: gone' end
  return table.concat(found, ', ')
end
`;

/** Finds damage. This script changes nothing, so it does not check the pepper as the other scripts do. */
const EXAMINE = toScript(`
local call, meta = redis.call, KEYS[1]
local base = string.sub(meta, 1, -1 - #'meta')
${DAMAGE_FUNCTIONS}
return damage()
`);

/** A page of records: cursor, then id and record in turn. */
const RECORDS = toStoreScript(`
local name, cursor = ARGV[3], ARGV[4]
local page = call('HSCAN', base .. name, cursor, 'COUNT', 500)
return page
`);

/** Adds missing digests of keys: id and digest in turn. */
const DIGESTS = toStoreScript(`
for at = 3, #ARGV, 2 do
  call('HSETNX', base .. 'digests', ARGV[at + 1], ARGV[at])
end
`);

/** Begins a new order beside the current order. */
const BEGIN_ORDER = toStoreScript(`call('DEL', base .. ARGV[3] .. ':next')`);

/** Appends to the new order: id and organization in turn. Keys are added to the order of their organization, too. */
const ORDER = toStoreScript(`
local name, next = ARGV[3], base .. ARGV[3] .. ':next'
for at = 4, #ARGV, 2 do
  local place = call('RPUSH', next, ARGV[at])
  if name == 'key_order' then call('ZADD', base .. 'keys_of:' .. ARGV[at + 1], place, ARGV[at]) end
end
`);

/** Replaces the current order by the new order, unless records were added since. */
const END_ORDER = toStoreScript(`
local name, records = ARGV[3], ARGV[4]
local next = base .. name .. ':next'
if call('LLEN', next) ~= call('HLEN', base .. records) then return 0 end
if call('LLEN', next) > 0 then call('RENAME', next, base .. name) end
return 1
`);

/** A page of organizations behind a cursor with the numbers of their keys: cursor, then id and number in turn. */
const EXAMINE_KEY_LISTS = toScript(`
local call, cursor = redis.call, ARGV[#ARGV]
local base = string.sub(KEYS[1], 1, -1 - #'meta')
local page = call('HSCAN', base .. 'organizations', cursor, 'COUNT', 500)
local found = {}
for at = 1, #page[2], 2 do
  found[#found + 1] = page[2][at]
  found[#found + 1] = call('ZCARD', base .. 'keys_of:' .. page[2][at])
end
return { page[1], found, call('HLEN', base .. 'keys') }
`);
/** The largest number of organizations that are examined one by one. */
const ORGANIZATIONS_MAX = 20_000;

const ATTEMPTS = 5;
const AT_ONCE = 500;

/** Returns the parts of the index that have too few entries; undefined if the index is complete. Changes nothing. */
export async function indexDamage(client: Redis): Promise<string | undefined> {
  const damage = ((await evaluate(client, EXAMINE, [META], [])) as string) || undefined;
  return damage ?? keyListDamage((cursor) => evaluate(client, EXAMINE_KEY_LISTS, [META], [cursor]));
}

async function keyListDamage(read: (cursor: string) => Promise<unknown>): Promise<string | undefined> {
  const counts = new Map<string, number>();
  let keys = 0;
  for (let cursor = ''; cursor !== '0' && counts.size < ORGANIZATIONS_MAX; ) {
    const [next, page, all] = (await read(cursor || '0')) as [string, (string | number)[], number];
    for (let at = 0; at < page.length; at += 2) counts.set(String(page[at]), Number(page[at + 1]));
    [cursor, keys] = [next, all];
    if (cursor !== '0') continue;
    const listed = [...counts.values()].reduce((sum, count) => sum + count, 0);
    if (listed < keys) return `keys_of: ${listed} of ${keys}`;
  }
  return undefined;
}

/**
 * Rebuilds missing parts of the index from the records. Gateways may use the store meanwhile. Returns the parts that are still missing,
 * because their records are lost.
 */
export async function mendIndex(patient: RunScript): Promise<string | undefined> {
  const damage = async () =>
    ((await patient(EXAMINE)) as string) || (await keyListDamage((cursor) => patient(EXAMINE_KEY_LISTS, [cursor])));
  if ((await damage()) === undefined) return undefined;
  const keys = (await recordsOf(patient, 'keys')).map(([id, record]) => ({ id, ...toIndexed(record) }));
  for (const page of pagesOf(keys)) {
    await patient(
      DIGESTS,
      page.flatMap(({ id, digest }) => [id, digest]),
    );
  }
  for (let attempt = 0; attempt < ATTEMPTS && !(await putAllInOrder(patient)); attempt += 1);
  return damage();
}

/** Resolves with false if records were added during the work. */
async function putAllInOrder(patient: RunScript): Promise<boolean> {
  const keys = (await recordsOf(patient, 'keys')).map(([id, record]) => ({ id, ...toIndexed(record) }));
  keys.sort((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1));
  const organizations = (await recordsOf(patient, 'organizations')).map(([id]) => ({ id, organization: '' }));
  const areKeys = await putInOrder(patient, 'key_order', 'keys', keys);
  return (await putInOrder(patient, 'organization_order', 'organizations', organizations)) && areKeys;
}

async function putInOrder(
  patient: RunScript,
  order: string,
  records: string,
  all: readonly { readonly id: string; readonly organization: string }[],
): Promise<boolean> {
  await patient(BEGIN_ORDER, [order]);
  for (const page of pagesOf(all)) {
    await patient(ORDER, [order, ...page.flatMap(({ id, organization }) => [id, organization])]);
  }
  return (await patient(END_ORDER, [order, records])) === 1;
}

/** Returns each record once, although a scan may return it twice. */
async function recordsOf(patient: RunScript, name: string): Promise<[id: string, record: string][]> {
  const records = new Map<string, string>();
  for (let cursor = ''; cursor !== '0'; ) {
    const [next, page] = (await patient(RECORDS, [name, cursor || '0'])) as [string, string[]];
    for (let at = 0; at < page.length; at += 2) records.set(page[at] as string, page[at + 1] as string);
    cursor = next;
  }
  return [...records];
}

/** Parses the text that `recordOf` of columns.ts writes. */
function toIndexed(record: string): { digest: string; createdAtMs: number; organization: string } {
  const end = record.indexOf('\n');
  const { digest, createdAtMs } = JSON.parse(record.slice(end + 1));
  return { digest, createdAtMs, organization: record.slice(0, end) };
}

function* pagesOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += AT_ONCE) yield all.slice(from, from + AT_ONCE);
}
