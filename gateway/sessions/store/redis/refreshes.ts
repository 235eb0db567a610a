// The steps of a refresh in Redis. A lease is three fields of the session: its owner, until when it runs, and its fence. They stay when it
// has run out, so that a token that may have been redeemed is not redeemed again.

import type { tokenColumns } from '../record.ts';
import type { RefreshLease, RefreshTake, Session, SessionRefreshes } from '../session-store.ts';
import type { RunSessionScript } from './connection.ts';
import { type SessionRow, sessionIn, toSession } from './rows.ts';
import { toSessionScript } from './session-script.ts';

/**
 * After a reconnect nothing is redeemed for so long: a server that has lost its last writes may have lost leases and successors, which their
 * holders write again meanwhile.
 */
const QUIET_MS = 4000;

/**
 * The first write of each script allocates nothing, and a full Redis does not stop a script that has already written: refreshes succeed on it.
 *
 * A caller that knows a later generation than the store proves it by its sealed tokens: the store has lost them.
 */
const TAKE = toSessionScript(`
local hash, generation, owner, lasts = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local key, row = session_key(ARGV[1]), row_of(ARGV[1])
if now > tonumber(ARGV[9]) then return { 'late' } end
if not row then return { 'ended' } end
if tonumber(row[10]) > generation then return { 'succeeded', row } end
if tonumber(row[10]) < generation then
  call('HDEL', key, 'owner', 'until')
  call('HSET', key, 'generation', generation, 'tokens', ARGV[5], 'access', ARGV[6], 'lives', ARGV[7], 'refreshable', ARGV[8])
  row = row_of(hash)
end
local holder, ends, fence = unpack(call('HMGET', key, 'owner', 'until', 'fence'))
if holder and holder ~= owner then
  local left = ends - now
  -- One that ends later than a new one would was written before the clock was set back.
  if left > lasts then
    left = lasts
    call('HSET', key, 'until', text(now + lasts))
  end
  if left > 0 then return { 'held', left } end
  return { 'unknown', row }
end
if not holder then fence = text(math.max((tonumber(fence) or 0) + 1, math.floor(now / 1000))) end
call('HDEL', key, 'until')
call('HSET', key, 'owner', owner, 'until', text(now + lasts), 'fence', fence)
return { 'taken', row, tonumber(fence) }
`);

/** A session without an owner and with an earlier fence has lost the lease with its last writes. */
const RENEW = toSessionScript(`
local hash, generation, owner, fence, lasts = unpack(ARGV)
local key, row = session_key(hash), row_of(hash)
if not row or row[10] ~= generation then return 0 end
local holder, stored = unpack(call('HMGET', key, 'owner', 'fence'))
local is_lost = not holder and (tonumber(stored) or 0) < tonumber(fence)
if not is_lost and (holder ~= owner or stored ~= fence) then return 0 end
call('HDEL', key, 'until')
call('HSET', key, 'owner', owner, 'until', text(now + lasts), 'fence', fence)
return 1
`);

/** Written twice, it is the same. A later holder has a larger fence: what it writes stays. */
const REPLACE = toSessionScript(`
local hash, generation, fence = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local key, row = session_key(ARGV[1]), row_of(ARGV[1])
if not row then return false end
local stored = tonumber(call('HGET', key, 'fence')) or 0
if tonumber(row[10]) > generation or stored > tonumber(fence) then return row end
call('HDEL', key, 'owner', 'until')
call('HSET', key, 'tokens', ARGV[4], 'access', text(now + ARGV[5]), 'lives', ARGV[5], 'refreshable', ARGV[6],
  'generation', text(generation + 1), 'fence', fence)
return row_of(hash)
`);

const RELEASE = toSessionScript(`
local hash, generation, owner, until_now = unpack(ARGV)
local key, row = session_key(hash), row_of(hash)
if not row or row[10] ~= generation or call('HGET', key, 'owner') ~= owner then return end
if until_now == '1' then call('HSET', key, 'until', 0) else call('HDEL', key, 'owner', 'until') end
`);

type TakeReply =
  | readonly ['taken', SessionRow, number]
  | readonly ['held', number]
  | readonly ['unknown' | 'succeeded', SessionRow]
  | readonly ['ended' | 'late'];

export interface RedisRefreshesOptions {
  readonly run: RunSessionScript;
  readonly columnsOf: (hash: string, tokens: Parameters<typeof tokenColumns>[2]) => ReturnType<typeof tokenColumns>;
  /** How long ago the connection was made again; Infinity if it never broke. */
  reconnectedForMs(): number;
}

export function createRedisRefreshes({ run, columnsOf, reconnectedForMs }: RedisRefreshesOptions): SessionRefreshes {
  const letGo = async ({ hash, generation, owner }: RefreshLease, isGivenUp: boolean) => {
    await run(RELEASE, [hash, generation, owner, isGivenUp ? 1 : 0]);
  };
  return {
    async take(session, owner, forMs, notAfterMs) {
      const quietMs = QUIET_MS - reconnectedForMs();
      if (quietMs > 0) return { state: 'held', endsInMs: quietMs };
      const { hash, generation, sealedTokens, accessEndsAtMs, accessLivesMs, refreshable } = session;
      const known = [sealedTokens, accessEndsAtMs, accessLivesMs, refreshable ? 1 : 0, Math.ceil(notAfterMs)];
      return toTake((await run(TAKE, [hash, generation, owner, forMs, ...known])) as TakeReply, session, owner);
    },
    async renew({ hash, generation, owner, fence }, forMs) {
      return (await run(RENEW, [hash, generation, owner, fence, forMs])) === 1;
    },
    async replaceTokens({ hash, generation, fence }, tokens) {
      const { sealedTokens, accessLivesMs, refreshable } = columnsOf(hash, tokens);
      return sessionIn(await run(REPLACE, [hash, generation, fence, sealedTokens, accessLivesMs, refreshable ? 1 : 0]));
    },
    release: (lease) => letGo(lease, false),
    giveUp: (lease) => letGo(lease, true),
  };
}

function toTake(reply: TakeReply, { hash, generation }: Session, owner: string): RefreshTake {
  switch (reply[0]) {
    case 'taken':
      return {
        state: 'taken',
        session: toSession(reply[1]),
        lease: { hash, generation, owner, fence: reply[2] },
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
