// The steps of a refresh in Redis. The lease of a session is in three fields (owner, end and fence); two more fields, which outlast it,
// contain the time at which the token may have been sent first, and the senders (sessions/store/senders.ts).

import { LEASE_MAX_MS, type TokenColumns } from '../record.ts';
import { OTHERS, SENDERS_MAX } from '../senders.ts';
import type { IssuedTokens, RefreshTake, Session, SessionRefreshes } from '../session-store.ts';
import type { RunSessionScript } from './connection.ts';
import { type SessionRow, sessionIn, toSession } from './rows.ts';
import { toSessionScript } from './session-script.ts';

/**
 * The time after a reconnect in which no lease is granted. The server may have lost its last writes, such as leases and successors, and
 * the holders of leases write these again in this time.
 */
const QUIET_MS = 4000;

/**
 * Returns whether the provider accepts the token again, which it may do for some time after the token was sent first. Returns false after a
 * clock was set back.
 */
const MAY_REPEAT = `
local function may_repeat(sent, reuse)
  local since = now - sent
  return since >= 0 and since < reuse
end`;

/**
 * Refreshes have to succeed on a full Redis, which stops a script only before its first write. The first write of each script therefore
 * allocates nothing.
 *
 * If a caller knows a later generation than the store, its sealed tokens prove that the store has lost that generation.
 */
const TAKE = toSessionScript(`
${MAY_REPEAT}
local hash, generation, owner, lasts, reuse = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[10])
local key, row = session_key(ARGV[1]), row_of(ARGV[1])
if now > tonumber(ARGV[9]) then return { 'late' } end
if not row then return { 'ended' } end
if tonumber(row[GENERATION]) > generation then return { 'succeeded', row } end
if tonumber(row[GENERATION]) < generation then
  call('HDEL', key, 'owner', 'until', 'sent', 'sender')
  call('HSET', key, 'generation', generation, 'tokens', ARGV[5], 'access', ARGV[6], 'lives', ARGV[7], 'refreshable', ARGV[8])
  row = row_of(hash)
end
local holder, ends, fence, sent = unpack(call('HMGET', key, 'owner', 'until', 'fence', 'sent'))
if holder and holder ~= owner then
  local left = ends - now
  if left > ${LEASE_MAX_MS} then
    left = ${LEASE_MAX_MS}
    call('HSET', key, 'until', text(now + left))
  end
  if left > 0 then return { 'held', left } end
end
if holder ~= owner then
  if sent and not may_repeat(sent, reuse) then return { 'unknown', row } end
  fence = text(math.max((tonumber(fence) or 0) + 1, math.floor(now / 1000)))
end
call('HDEL', key, 'until')
call('HSET', key, 'owner', owner, 'until', text(now + lasts), 'fence', fence)
return { 'taken', row, tonumber(fence) }
`);

/**
 * Prolongs the lease. If the session has an earlier fence, the server has lost the lease, and the script restores it, unless a lease of
 * another owner has not ended. The script notes the time at which the token was sent first, unless the session has this note already.
 *
 * `sent_for`: milliseconds since this holder sent the token, or -1 if it did not. If another holder sent the token before, this holder may
 * have sent it only while the provider accepted the token again.
 */
const RENEW = toSessionScript(`
${MAY_REPEAT}
local function listed(senders, owner)
  return string.find(' ' .. senders .. ' ', ' ' .. owner .. ' ', 1, true) ~= nil
end
local function with_sender(senders, owner)
  if #senders > ${SENDERS_MAX} then owner = '${OTHERS}' end
  return listed(senders, owner) and senders or senders .. ' ' .. owner
end
local hash, generation, owner, fence, lasts, sent_for, reuse = unpack(ARGV)
local key, row = session_key(hash), row_of(hash)
if not row or row[GENERATION] ~= generation then return 0 end
local holder, ends, stored, sent, sender = unpack(call('HMGET', key, 'owner', 'until', 'fence', 'sent', 'sender'))
local has_sent = listed(sender or '', owner)
local is_lost = (tonumber(stored) or 0) < tonumber(fence) and (not holder or tonumber(ends) <= now)
if not is_lost and (holder ~= owner or stored ~= fence) then return 0 end
local sends = tonumber(sent_for) >= 0
if sends and sent and not has_sent and not may_repeat(sent + sent_for, tonumber(reuse)) then return 0 end
call('HDEL', key, 'until')
call('HSET', key, 'owner', owner, 'until', text(now + lasts), 'fence', fence)
if sends and not sent then call('HSET', key, 'sent', text(now - sent_for), 'sender', owner) end
if sends and sent and not has_sent then call('HSET', key, 'sender', with_sender(sender, owner)) end
return 1
`);

/**
 * Stores the successor. A second call changes nothing. A later holder, who has a larger fence, may have a successor of its own, unless the
 * writer is the only sender.
 */
const REPLACE = toSessionScript(`
local hash, generation, owner, fence = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local key, row = session_key(ARGV[1]), row_of(ARGV[1])
if not row then return false end
local stored, sender = unpack(call('HMGET', key, 'fence', 'sender'))
stored = tonumber(stored) or 0
if tonumber(row[GENERATION]) > generation or stored > fence and sender ~= owner then return row end
call('HDEL', key, 'owner', 'until', 'sent', 'sender')
call('HSET', key, 'tokens', ARGV[5], 'access', text(now + ARGV[6]), 'lives', ARGV[6], 'refreshable', ARGV[7],
  'generation', text(generation + 1), 'fence', text(math.max(stored, fence)))
return row_of(hash)
`);

/** Gives a lease back. The note stays while another owner may have sent the token. */
const RELEASE = toSessionScript(`
local hash, generation, owner = unpack(ARGV)
local key, row = session_key(hash), row_of(hash)
if not row or row[GENERATION] ~= generation then return end
if call('HGET', key, 'owner') == owner then call('HDEL', key, 'owner', 'until') end
local senders, others = call('HGET', key, 'sender') or '', {}
for sender in string.gmatch(senders, '%S+') do
  if sender ~= owner then others[#others + 1] = sender end
end
if #others == 0 then call('HDEL', key, 'sent', 'sender')
else call('HSET', key, 'sender', table.concat(others, ' ')) end
`);

const GIVE_UP = toSessionScript(`
local hash, generation, owner = unpack(ARGV)
local key, row = session_key(hash), row_of(hash)
if not row or row[GENERATION] ~= generation or call('HGET', key, 'owner') ~= owner then return end
call('HSET', key, 'until', 0)
`);

/** The scripts by name, for tests that recognize them on the wire. */
export const REFRESH_SCRIPTS = { take: TAKE, renew: RENEW, replace: REPLACE } as const;

type TakeReply =
  | readonly ['taken', SessionRow, number]
  | readonly ['held', number]
  | readonly ['unknown' | 'succeeded', SessionRow]
  | readonly ['ended' | 'late'];

interface RedisRefreshesOptions {
  readonly run: RunSessionScript;
  columnsOf(hash: string, tokens: IssuedTokens): TokenColumns;
  /** Returns how long ago the connection was made again; Infinity if it never broke. */
  reconnectedForMs(): number;
}

export function createRedisRefreshes({ run, columnsOf, reconnectedForMs }: RedisRefreshesOptions): SessionRefreshes {
  return {
    async take(session, owner, { forMs, notAfterMs, reuseMs }) {
      const quietMs = QUIET_MS - reconnectedForMs();
      if (quietMs > 0) return { state: 'held', endsInMs: quietMs };
      const { hash, generation, sealedTokens, accessEndsAtMs, accessLivesMs, refreshable } = session;
      const known = [sealedTokens, accessEndsAtMs, accessLivesMs, refreshable ? 1 : 0, Math.ceil(notAfterMs), reuseMs];
      return toTake(
        (await run(TAKE, [hash, generation, owner, forMs, ...known])) as TakeReply,
        session,
        owner,
        reuseMs,
      );
    },
    async renew({ hash, generation, owner, fence, reuseMs }, forMs, sentForMs) {
      const sentFor = sentForMs === undefined ? -1 : Math.floor(sentForMs);
      return (await run(RENEW, [hash, generation, owner, fence, forMs, sentFor, reuseMs])) === 1;
    },
    async replaceTokens({ hash, generation, owner, fence }, tokens) {
      const { sealedTokens, accessLivesMs, refreshable } = columnsOf(hash, tokens);
      const next = [sealedTokens, accessLivesMs, refreshable ? 1 : 0];
      return sessionIn(await run(REPLACE, [hash, generation, owner, fence, ...next]));
    },
    async release({ hash, generation, owner }) {
      await run(RELEASE, [hash, generation, owner]);
    },
    async giveUp({ hash, generation, owner }) {
      await run(GIVE_UP, [hash, generation, owner]);
    },
  };
}

function toTake(reply: TakeReply, { hash, generation }: Session, owner: string, reuseMs: number): RefreshTake {
  switch (reply[0]) {
    case 'taken':
      return {
        state: 'taken',
        session: toSession(reply[1]),
        lease: { hash, generation, owner, fence: reply[2], reuseMs },
      };
    case 'held':
      return { state: 'held', endsInMs: reply[1] };
    case 'ended':
    case 'late':
      return { state: reply[0] };
    default:
      return { state: reply[0], session: toSession(reply[1]) };
  }
}
