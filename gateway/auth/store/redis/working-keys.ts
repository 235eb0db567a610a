// The keys of an organization that work: neither revoked nor expired. Their number has a bound.

import type { Conditions } from '../key-store.ts';

/**
 * Lua functions. `find_working` returns whether `is_found` returns true for a working key. It reads the newest keys first, because they are
 * more likely to work. `has_room` returns whether an organization may get `added` working keys, one of which may replace another key. It
 * reads no key if the organization has fewer keys than it may have working keys.
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

local function has_room(organization, replaced, added, working_max, records_max)
  if working_max == '' then return true end
  local records = call('ZCARD', base .. 'keys_of:' .. organization)
  if records >= tonumber(records_max) then return false end
  local room = tonumber(working_max) - added
  if room < 0 then return false end
  if records - (replaced == '' and 0 or 1) <= room then return true end
  return not find_working(organization, function(id)
    if id == replaced then return false end
    room = room - 1
    return room < 0
  end)
end
`;

/** Returns the arguments of a script that calls `has_room`; without a bound, these are empty. */
export function boundArguments({ most }: Conditions): (string | number)[] {
  return [most?.working ?? '', most?.records ?? ''];
}
