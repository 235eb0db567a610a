// Organizations in the Redis key store: one text each for the unchanging part, and columns for tier and suspension.

import type { Organization } from '../../../caller.ts';
import type { OrganizationRecords } from '../key-store.ts';
import type { StoreConnections } from './key-store-connection.ts';
import { type Columns, toStoreScript } from './key-store-script.ts';
import { allOf, inRedisPages } from './pages.ts';

const SUSPENDED = '1';

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

const CREATE = toStoreScript(`${ORGANIZATION_FUNCTIONS}
local by, details, at = ARGV[3], ARGV[4], 5
if organization_exists(ARGV[at]) then return 0 end
insert_organizations({ at })
write_change(by, 'organization.created', ARGV[at], '', details)
return 1
`);

const GET = toStoreScript(`${ORGANIZATION_FUNCTIONS}
return columns_of({ ARGV[3] }, ORGANIZATION_COLUMNS)
`);

const PAGE = toStoreScript(`${ORGANIZATION_FUNCTIONS}
local first, last = ARGV[3], ARGV[4]
return columns_of(call('LRANGE', base .. 'organization_order', first, last), ORGANIZATION_COLUMNS)
`);

/** Ids only, because they are sorted here. */
const IDS = toStoreScript(`
return call('LRANGE', base .. 'organization_order', ARGV[3], ARGV[4])
`);

/** Returns the organizations with these ids. */
const GET_SOME = toStoreScript(`${ORGANIZATION_FUNCTIONS}
local ids = {}
for index = 3, #ARGV do ids[#ids + 1] = ARGV[index] end
return columns_of(ids, ORGANIZATION_COLUMNS)
`);
const SOME = 500;

const SET_TIER = toStoreScript(`${ORGANIZATION_FUNCTIONS}
local id, by, tier = ARGV[3], ARGV[4], ARGV[5]
local before = call('HGET', base .. 'tiers', id)
if before and before ~= tier then
  call('HSET', base .. 'tiers', id, tier)
  local details = '{"from":' .. cjson.encode(before) .. ',"to":' .. cjson.encode(tier) .. '}'
  write_change(by, 'organization.tier_changed', id, '', details)
end
return columns_of({ id }, ORGANIZATION_COLUMNS)
`);

const SUSPEND = toStoreScript(`${ORGANIZATION_FUNCTIONS}
local id, by = ARGV[3], ARGV[4]
if organization_exists(id) and call('HSETNX', base .. 'suspensions', id, '${SUSPENDED}') == 1 then
  write_change(by, 'organization.suspended', id, '', '{}')
end
return columns_of({ id }, ORGANIZATION_COLUMNS)
`);

const RESUME = toStoreScript(`${ORGANIZATION_FUNCTIONS}
local id, by = ARGV[3], ARGV[4]
if call('HDEL', base .. 'suspensions', id) == 1 then write_change(by, 'organization.resumed', id, '', '{}') end
return columns_of({ id }, ORGANIZATION_COLUMNS)
`);

export function createRedisOrganizations({ serving, patient }: StoreConnections): OrganizationRecords {
  const scan = () => inRedisPages((first, last) => patient(PAGE, [first, last]), organizationsOf);

  return {
    async create(organization, by) {
      const { name, tier, operator } = organization;
      const details = JSON.stringify({ name, tier, operator });
      return (await patient(CREATE, [by, details, ...organizationArguments(organization)])) === 1;
    },
    async get(id) {
      return organizationsOf(await serving(GET, [id]))[0];
    },
    async list({ after = '', limit } = {}) {
      const ids = await allOf(inRedisPages((first, last) => patient(IDS, [first, last]), textsOf));
      const wanted = ids
        .filter((id) => id > after)
        .sort()
        .slice(0, limit);
      const found: Organization[] = [];
      for (let first = 0; first < wanted.length; first += SOME)
        found.push(...organizationsOf(await patient(GET_SOME, wanted.slice(first, first + SOME))));
      return found;
    },
    scan,
    async setTier(id, tier, by) {
      return organizationsOf(await patient(SET_TIER, [id, by, tier]))[0];
    },
    async suspend(id, by) {
      return organizationsOf(await patient(SUSPEND, [id, by]))[0];
    },
    async resume(id, by) {
      return organizationsOf(await patient(RESUME, [id, by]))[0];
    },
  };
}

function textsOf(reply: unknown): readonly string[] {
  return reply as readonly string[];
}

/** Converts an organization to script arguments. */
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
