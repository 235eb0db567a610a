// The keys of an organization that work: neither revoked nor ended. Their number has a bound.

import type { Conditions } from '../key-store.ts';

/**
 * Lua functions. `find_working` goes through the working keys from the newest to the oldest, because newer keys are more likely to work. It
 * returns whether `is_found` has returned true for one. `has_room` tells whether an organization may get `added` working keys, of which one
 * may be the key that they replace. Most organizations have fewer keys in all than they may have working keys. Then it reads no key.
 */
export const WORKING_FUNCTIONS = `
local function find_working(organization, is_found)
  local order, now = base .. 'keys_of:' .. organization, tonumber(ARGV[2])
  for first = 0, call('ZCARD', order) - 1, 200 do
    local ids, revocations, ends = unpack(columns_of(call('ZREVRANGE', order, first, first + 199), { 'revocations', 'ends' }))
    for number, id in ipairs(ids) do
      local works = not revocations[number] and (not ends[number] or tonumber(ends[number]) > now)
      if works and is_found(id) then return true end
    end
  end
  return false
end

local function has_room(organization, replaced, added, usable_max, records_max)
  if usable_max == '' then return true end
  local records = call('ZCARD', base .. 'keys_of:' .. organization)
  if records >= tonumber(records_max) then return false end
  local room = tonumber(usable_max) - added
  if room < 0 then return false end
  if records - (replaced == '' and 0 or 1) <= room then return true end
  return not find_working(organization, function(id)
    if id == replaced then return false end
    room = room - 1
    return room < 0
  end)
end
`;

/** The arguments of a script that calls `has_room`; empty ones for no bound. */
export function boundArguments({ most }: Conditions): (string | number)[] {
  return [most?.usable ?? '', most?.records ?? ''];
}
