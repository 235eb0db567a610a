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
 * Checks everything before it writes, because Redis does not undo the writes of a script that fails. Returns the obstacle, or the numbers
 * of added organizations and keys.
 */
const ADD = toStoreScript(`${ORGANIZATION_FUNCTIONS}${KEY_FUNCTIONS}
local kind, by, organizations_end = ARGV[3], ARGV[4], 6 + ARGV[5] * ${ORGANIZATION_ARGUMENTS}
local seeding = kind == 'organizations.seeded'
local organizations, keys = {}, {}
local known, ids, digests = {}, {}, {}

-- Redis may have evicted whole columns. An import then restores the values of existing records in them.
local evicted = {}
for _, name in ipairs({ 'tiers', 'ends', 'revocations', 'successors' }) do
  evicted[name] = not seeding and call('EXISTS', base .. name) == 0
end
local function complete(name, id, value)
  if evicted[name] and value ~= '' then call('HSETNX', base .. name, id, value) end
end
-- A digest without its record is no key.
local function is_whole(at)
  if seeding then return key_exists(at) end
  local id = call('HGET', base .. 'digests', ARGV[at + 1])
  return call('HEXISTS', base .. 'keys', ARGV[at]) == 1 or (id and id ~= ARGV[at])
end
local present_organizations, present_keys = {}, {}

for at = 6, organizations_end - 1, ${ORGANIZATION_ARGUMENTS} do
  local id = ARGV[at]
  if not seeding and organization_exists(id) then present_organizations[#present_organizations + 1] = at end
  if not known[id] and not organization_exists(id) then
    known[id] = true
    organizations[#organizations + 1] = at
  elseif seeding then
    return { 'organization_taken', id }
  end
end
for at = organizations_end, #ARGV, ${KEY_ARGUMENTS} do
  local id, digest, organization = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if not known[organization] then
    if not organization_exists(organization) then return { 'organization_missing', organization } end
    known[organization] = true
  end
  if not seeding and call('HEXISTS', base .. 'keys', id) == 1 then present_keys[#present_keys + 1] = at end
  if not ids[id] and not digests[digest] and not is_whole(at) then
    ids[id], digests[digest] = true, true
    keys[#keys + 1] = at
  elseif seeding then
    return { 'key_taken', id }
  end
end

insert_organizations(organizations)
insert_keys(keys)
for _, at in ipairs(present_organizations) do complete('tiers', ARGV[at], ARGV[at + 2]) end
for _, at in ipairs(present_keys) do
  complete('ends', ARGV[at], ARGV[at + 4])
  complete('revocations', ARGV[at], ARGV[at + 5])
  complete('successors', ARGV[at], ARGV[at + 6])
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
