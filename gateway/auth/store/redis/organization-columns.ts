// Converts organizations to and from their form in the Redis key store: one text each for name, contacts and rank, and columns for tier and
// suspension.

import type { Organization } from '../../../exchange/caller.ts';
import type { Columns } from './key-store-script.ts';

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
