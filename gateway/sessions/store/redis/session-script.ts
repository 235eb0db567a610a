// The common beginning of all scripts of the Redis session store: names, the clock, and the functions that read, list and end a session.
// Scripts use the clock of the server, because instances compare times that others have written.

import { type Script, toScript } from '../../../redis/sealed-script.ts';
import { ENDS_MAX, IDLE_SLACK_MS } from '../record.ts';

/** All names begin with this name, whose hash tag keeps them on one slot. */
export const SESSIONS = '{gateway}:sessions';

/** Maximum number of sessions that a script reads from an index. */
const PRUNED = 20;

/**
 * The kinds of keys are short, because Redis has millions of them. With a hash or an id: `s` session, `i` hash of an id. The indexes of
 * sessions by time of creation: `o` of an organization, `p` of a person, `d` of a `sid`. What is remembered for a while: `lp` logout of a
 * person, `ls` logout of a `sid`, `j` the `jti` of a logout token.
 */
const PRELUDE = `
local call, base = redis.call, KEYS[1]
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Lua shows large numbers with an exponent.
local function text(number) return string.format('%.0f', number) end
local function session_key(hash) return base .. ':s:' .. hash end
local function id_key(id) return base .. ':i:' .. id end
local function index_key(kind, name) return base .. ':' .. kind .. ':' .. name end

-- The positions of some columns in a row.
local ID, ENDS, IDLE, USED, GENERATION, HASH = 1, 4, 5, 6, 10, 12

-- The columns of a session with its hash; nil: it has ended, by itself or otherwise.
local function row_of(hash)
  if not hash then return nil end
  local row = call('HMGET', session_key(hash), 'id', 'fixed', 'created', 'ends', 'idle', 'used', 'access', 'lives', 'refreshable',
    'generation', 'tokens')
  if not row[ID] then return nil end
  if now >= tonumber(row[ENDS]) or now >= row[USED] + row[IDLE] + ${IDLE_SLACK_MS} then return nil end
  row[HASH] = hash
  return row
end

local function expire(hash, id, ends, idle_end)
  local left = text(math.min(tonumber(ends), idle_end + ${IDLE_SLACK_MS}) - now)
  call('PEXPIRE', session_key(hash), left)
  call('PEXPIRE', id_key(id), left)
end

-- Ends a session, and returns it as it was.
local function end_session(hash, reason)
  local row = row_of(hash)
  if not row then return nil end
  local id = row[ID]
  local organization, person, sid = unpack(call('HMGET', session_key(hash), 'organization', 'person', 'sid'))
  call('DEL', session_key(hash), id_key(id))
  call('ZREM', index_key('o', organization), id)
  call('ZREM', index_key('p', person), id)
  if sid ~= '' then call('ZREM', index_key('d', sid), id) end
  local sequence = call('HINCRBY', base .. ':meta', 'sequence', 1)
  call('XADD', base .. ':ends', 'MAXLEN', ${ENDS_MAX}, sequence .. '-0', 'at', text(now), 'id', id, 'hash', hash, 'reason', reason)
  call('PUBLISH', base .. ':ended', sequence)
  return row
end

local function end_all(index, reason)
  local rows = {}
  for _, id in ipairs(call('ZRANGE', index, 0, -1)) do
    rows[#rows + 1] = end_session(call('GET', id_key(id)), reason)
  end
  -- What is left has ended by itself.
  call('DEL', index)
  return rows
end

-- Removes sessions that have ended by themselves from the first ones of an index. Returns the ids of the others.
local function prune(index, last)
  local alive = {}
  for _, id in ipairs(call('ZRANGE', index, 0, last)) do
    if call('EXISTS', id_key(id)) == 1 then alive[#alive + 1] = id else call('ZREM', index, id) end
  end
  return alive
end

local function add_to(index, id, lives)
  prune(index, ${PRUNED - 1})
  call('ZADD', index, text(now), id)
  if call('PTTL', index) < tonumber(lives) then call('PEXPIRE', index, lives) end
end
`;

/** Builds a script of the session store from its own source. */
export function toSessionScript(source: string): Script {
  return toScript(PRELUDE + source);
}
