// The common beginning of all scripts of the Redis key store: the names, the check that the data belongs to this gateway, and the audit
// row.

import { type Script, toScript } from '../../../redis/sealed-script.ts';

export const SCHEMA_VERSION = 1;

/** The first name. Scripts derive the other names from it. All names have one hash tag, because a script needs its keys in one slot. */
export const META = '{gateway}:meta';

/** A hash: the tier of each organization, by its id. */
export const TIERS = '{gateway}:tiers';

/** First words of the errors with which a script rejects data of another gateway. */
export const REFUSED = { newer: 'NEWERSCHEMA', pepper: 'ANOTHERPEPPER', damaged: 'DAMAGEDSTORE' } as const;

/**
 * ARGV[1] is the fingerprint of the pepper, ARGV[2] the writer's clock in epoch milliseconds; a script's own arguments follow. The first
 * script to run on an empty store claims it, because a store can be wiped and imported again while gateways run. Gateways recognise this by
 * `born`. Free text passes through undecoded, because cjson does not reproduce its input exactly.
 */
const PRELUDE = `
local call = redis.call
local meta = KEYS[1]
local base = string.sub(meta, 1, -1 - #'meta')
local changes = base .. 'changes'

local schema, pepper = unpack(call('HMGET', meta, 'schema', 'pepper_fingerprint'))
if not schema then
  local time = call('TIME')
  call('HSET', meta, 'schema', ${SCHEMA_VERSION}, 'pepper_fingerprint', ARGV[1], 'born', time[1] .. '.' .. time[2])
  -- A Redis that evicts may have kept the stream, which takes no earlier numbers.
  local last = call('XREVRANGE', changes, '+', '-', 'COUNT', 1)[1]
  if last then call('HSET', meta, 'sequence', string.match(last[1], '^%d+')) end
elseif tonumber(schema) > ${SCHEMA_VERSION} then
  return redis.error_reply('${REFUSED.newer} ' .. schema)
elseif pepper ~= ARGV[1] then
  return redis.error_reply('${REFUSED.pepper} the fingerprints differ')
end

local function write_change(by, kind, organization, key, details)
  local sequence = call('HINCRBY', meta, 'sequence', 1)
  call('XADD', changes, sequence .. '-0', 'at', ARGV[2], 'by', by, 'kind', kind, 'organization', organization, 'key', key,
    'details', details)
  if organization ~= '' then call('ZADD', base .. 'changes_of:' .. organization, sequence, sequence) end
  call('PUBLISH', base .. 'announced', sequence)
end

-- Writes many values of one kind in few calls, because Lua unpacks no more than some thousand values at once.
local function write_all(command, name, values)
  for from = 1, #values, 1000 do
    call(command, base .. name, unpack(values, from, math.min(from + 999, #values)))
  end
end

-- Writes hash fields from the arguments, starting at an offset after each index. Leaves out empty values.
local function write_columns(columns, indexes, offset)
  for number, column in ipairs(columns) do
    local values = {}
    for _, at in ipairs(indexes) do
      local value = ARGV[at + offset + number - 1]
      if value ~= '' then
        values[#values + 1] = ARGV[at]
        values[#values + 1] = value
      end
    end
    write_all('HSET', column, values)
  end
end

-- Returns one list per column, each as long as the ids; the first column is the ids.
local function columns_of(ids, columns)
  if #ids == 0 then return {} end
  local found = { ids }
  for _, column in ipairs(columns) do
    found[#found + 1] = call('HMGET', base .. column, unpack(ids))
  end
  return found
end
`;

/** Result of `columns_of`: the ids, then the values column by column. */
export type Columns = readonly [ids?: readonly string[], ...values: (readonly (string | null)[])[]];

/** Builds a script of the key store from its own source. */
export function toStoreScript(source: string): Script {
  return toScript(PRELUDE + source);
}
