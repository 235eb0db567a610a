// Batch writes of the Redis key store: `seed` adds only new records, and `import` adds missing records.

import type { Organization } from '../../../exchange/caller.ts';
import type { KeyStore } from '../key-store.ts';
import type { StoredKey } from '../stored-key.ts';
import {
  KEY_ARGUMENTS,
  KEY_FUNCTIONS,
  keyArguments,
  ORGANIZATION_ARGUMENTS,
  ORGANIZATION_FUNCTIONS,
  organizationArguments,
} from './columns.ts';
import type { RunScript } from './key-store-connection.ts';
import { toStoreScript } from './key-store-script.ts';

/**
 * Lua functions that sort the records of the arguments into `added` and `present` ones, as lists of indexes. They set `obstacle` to the
 * reply for the first record that prevents the batch.
 */
const SORT_FUNCTIONS = `
local obstacle
-- The organizations that exist, or that the batch adds.
local known = {}

local function sort_organizations(first, last)
  local added, present = {}, {}
  for at = first, last, ${ORGANIZATION_ARGUMENTS} do
    local id = ARGV[at]
    local exists = organization_exists(id)
    if seeding and (exists or known[id]) then
      obstacle = { 'organization_taken', id }
      break
    end
    if exists then
      present[#present + 1] = at
    elseif not known[id] then
      known[id] = true
      added[#added + 1] = at
    end
  end
  return added, present
end

-- A digest without its record is no key.
local function is_whole(at)
  if seeding then return key_exists(at) end
  local id = call('HGET', base .. 'digests', ARGV[at + 1])
  return call('HEXISTS', base .. 'keys', ARGV[at]) == 1 or (id and id ~= ARGV[at])
end

local function sort_keys(first, last)
  local added, present, ids, digests = {}, {}, {}, {}
  for at = first, last, ${KEY_ARGUMENTS} do
    local id, digest, organization = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    known[organization] = known[organization] or organization_exists(organization)
    local is_new = not ids[id] and not digests[digest] and not is_whole(at)
    if not known[organization] then
      obstacle = { 'organization_missing', organization }
    elseif seeding and not is_new then
      obstacle = { 'key_taken', id }
    end
    if obstacle then break end
    if not seeding and call('HEXISTS', base .. 'keys', id) == 1 then present[#present + 1] = at end
    if is_new then
      ids[id], digests[digest] = true, true
      added[#added + 1] = at
    end
  end
  return added, present
end
`;

/** Lua functions that restore columns. Redis may have evicted whole columns. An import restores the values of existing records in them. */
const RESTORE_FUNCTIONS = `
local function evicted_columns()
  local evicted = {}
  for _, name in ipairs({ 'tiers', 'ends', 'revocations', 'successors' }) do
    evicted[name] = call('EXISTS', base .. name) == 0
  end
  return evicted
end

local function restore(name, indexes, offset)
  for _, at in ipairs(indexes) do
    local value = ARGV[at + offset]
    if value ~= '' then call('HSETNX', base .. name, ARGV[at], value) end
  end
end
`;

/**
 * Checks everything before it writes, because Redis does not undo the writes of a script that fails. Returns the obstacle, or the numbers
 * of added organizations and keys.
 */
const ADD = toStoreScript(`${ORGANIZATION_FUNCTIONS}${KEY_FUNCTIONS}
local kind, by, organizations_end = ARGV[3], ARGV[4], 6 + ARGV[5] * ${ORGANIZATION_ARGUMENTS}
local seeding = kind == 'organizations.seeded'
${SORT_FUNCTIONS}${RESTORE_FUNCTIONS}
local organizations, present_organizations = sort_organizations(6, organizations_end - 1)
if obstacle then return obstacle end
local keys, present_keys = sort_keys(organizations_end, #ARGV)
if obstacle then return obstacle end

local evicted = evicted_columns()
insert_organizations(organizations)
insert_keys(keys)
if not seeding then
  if evicted.tiers then restore('tiers', present_organizations, 2) end
  if evicted.ends then restore('ends', present_keys, 4) end
  if evicted.revocations then restore('revocations', present_keys, 5) end
  if evicted.successors then restore('successors', present_keys, 6) end
end
if seeding or #organizations + #keys > 0 then
  write_change(by, kind, '', '', '{"organizations":' .. #organizations .. ',"keys":' .. #keys .. '}')
end
return { 'added', #organizations, #keys }
`);

const OBSTACLES: Readonly<Record<string, (id: string) => string>> = {
  organization_taken: (id) => `The organization ${id} exists already.`,
  organization_missing: (id) => `The organization ${id} does not exist.`,
  key_taken: (id) => `The key ${id} exists already.`,
};

export function createRedisBatches(patient: RunScript): Pick<KeyStore, 'seed' | 'import'> {
  async function add(
    kind: 'organizations.seeded' | 'records.imported',
    organizations: readonly Organization[],
    keys: readonly StoredKey[],
    by: string,
  ) {
    const records = [...organizations.flatMap(organizationArguments), ...keys.flatMap(keyArguments)];
    const reply = await patient(ADD, [kind, by, organizations.length, ...records]);
    const [outcome, first, second] = reply as readonly [string, ...unknown[]];
    const obstacle = OBSTACLES[outcome];
    if (obstacle !== undefined) throw new Error(obstacle(String(first)));
    return { organizations: Number(first), keys: Number(second) };
  }

  return {
    async seed(organizations, keys, by) {
      await add('organizations.seeded', organizations, keys, by);
    },
    import: (organizations, keys, by) => add('records.imported', organizations, keys, by),
  };
}
