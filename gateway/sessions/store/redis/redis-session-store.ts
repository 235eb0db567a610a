// The session store of instances that share a Redis. Each operation is one script, and entries expire when their sessions end.

import type { ConnectRedis } from '../../../redis/client.ts';
import { subscribe } from '../../../redis/subscribe.ts';
import { type Machine, REAL_MACHINE } from '../../../shared/machine.ts';
import type { KeyRing } from '../../../shared/stores/seal.ts';
import { fixedPartOf, LOGIN_MAX_MS, openTokens, personName, sidName, tokenColumns, tokenName } from '../record.ts';
import type { EndsRead, ProviderLogout, Session, SessionEnd, SessionStore, SessionsOf } from '../session-store.ts';
import { openSessionConnection, type SessionConnection } from './connection.ts';
import { createRedisRefreshes } from './refreshes.ts';
import { type SessionRow, sessionIn, sessionsIn, toSession } from './rows.ts';
import { SESSIONS, toSessionScript } from './session-script.ts';

const NOW = toSessionScript(`return now`);

/**
 * Stores a session, unless the provider has sent a logout during the login. The store remembers logouts as long as a login may take. Also
 * refuses a login that seems to begin in the future, which happens after the clock was set back.
 */
const CREATE = toSessionScript(`
local hash, id, fixed, idle, lives, organization, person, sid = unpack(ARGV)
local tokens, access_lives, refreshable, begun, most = unpack(ARGV, 9)
local stored = row_of(hash)
if stored then return stored end
begun = tonumber(begun)
local ended = call('GET', index_key('lp', person))
if sid ~= '' and call('EXISTS', index_key('ls', sid)) == 1 then return false end
if ended and tonumber(ended) >= begun then return false end
if now - begun > ${LOGIN_MAX_MS} or begun > now then return false end

local others, used = prune(index_key('p', person), -1), {}
if #others >= tonumber(most) then
  for at, other in ipairs(others) do used[at] = tonumber(call('HGET', session_key(call('GET', id_key(other))), 'used')) or 0 end
end
for _ = 1, #others + 1 - most do
  local least = 1
  for at = 2, #others do if used[at] < used[least] then least = at end end
  used[least] = 1e300
  end_session(call('GET', id_key(others[least])), 'replaced')
end
local ends = now + lives
call('HSET', session_key(hash), 'id', id, 'fixed', fixed, 'created', text(now), 'ends', text(ends), 'idle', idle, 'used', text(now),
  'access', text(now + access_lives), 'lives', access_lives, 'refreshable', refreshable, 'generation', 0, 'tokens', tokens,
  'organization', organization, 'person', person, 'sid', sid)
call('SET', id_key(id), hash)
expire(hash, id, ends, now + idle)
add_to(index_key('o', organization), id, lives)
add_to(index_key('p', person), id, lives)
if sid ~= '' then add_to(index_key('d', sid), id, lives) end
return row_of(hash)
`);

const FIND = toSessionScript(`return row_of(ARGV[1]) or false`);
const GET = toSessionScript(`return row_of(call('GET', id_key(ARGV[1]))) or false`);

/** Reads one page of an index. Returns whether the index has ended, where to continue, and the sessions of the page. */
const LIST = toSessionScript(`
local index, from, after, most = index_key(ARGV[1], ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5])
local rows, position, passed = {}, { from, after }, 0
local offset = 0
while #rows < most and passed < 1000 do
  local page = call('ZRANGEBYSCORE', index, from, '+inf', 'WITHSCORES', 'LIMIT', offset, 100)
  if #page == 0 then return { 1, position, rows } end
  for at = 1, #page, 2 do
    local id, created = page[at], page[at + 1]
    if #rows < most and (created ~= from or id > after) then
      rows[#rows + 1] = row_of(call('GET', id_key(id)))
      position = { created, id }
    end
  end
  offset, passed = offset + 100, passed + 100
end
return { 0, position, rows }
`);

const TOUCH = toSessionScript(`
for at = 1, #ARGV, 2 do
  local hash, used = ARGV[at], math.min(tonumber(ARGV[at + 1]), now)
  local row = row_of(hash)
  if row and used > tonumber(row[USED]) then
    call('HSET', session_key(hash), 'used', text(used))
    expire(hash, row[ID], row[ENDS], used + row[IDLE])
  end
end
`);

const END = toSessionScript(`return end_session(call('GET', id_key(ARGV[1])), ARGV[2]) or false`);

/**
 * Ends all sessions of a person. This has to succeed on a full Redis, too. The first write of the script therefore needs no memory, because
 * Redis does not stop a script that has already written.
 */
const END_PERSON = toSessionScript(`
local rows = end_all(index_key('p', ARGV[1]), ARGV[2])
call('SET', index_key('lp', ARGV[1]), text(now), 'PX', ${LOGIN_MAX_MS})
return rows
`);

const END_BY_PROVIDER = toSessionScript(`
local token, remember, kind, name = unpack(ARGV)
if call('EXISTS', index_key('j', token)) == 1 then return false end
local rows = end_all(index_key(kind, name), 'provider')
call('SET', index_key('j', token), '1', 'PX', text(math.max(tonumber(remember) - now, ${LOGIN_MAX_MS})))
call('SET', index_key(kind == 'd' and 'ls' or 'lp', name), text(now), 'PX', ${LOGIN_MAX_MS})
return rows
`);

/** Returns the ends after a number. `born` changes when the server is wiped, after which the numbers begin with 1 again. */
const SINCE = toSessionScript(`
if call('HSETNX', base .. ':meta', 'born', time[1] .. '.' .. time[2]) == 1 then call('HINCRBY', base .. ':meta', 'sequence', 1) end
local born, latest = unpack(call('HMGET', base .. ':meta', 'born', 'sequence'))
return { born, latest or '0', now, call('XRANGE', base .. ':ends', '(' .. ARGV[1] .. '-0', '+', 'COUNT', ARGV[2]), base .. ':ended' }
`);

type SinceReply = readonly [string, string, number, readonly (readonly [string, readonly string[]])[], string];

interface RedisSessionStoreOptions {
  /** redis:// or rediss:// */
  readonly url: string;
  readonly keys: KeyRing;
  readonly connect?: ConnectRedis | undefined;
  readonly machine?: Machine | undefined;
}

/** Connects at once and reconnects by itself. Resolves when the first attempt to connect has succeeded or failed. */
export async function openRedisSessionStore({
  url,
  keys,
  connect,
  machine = REAL_MACHINE,
}: RedisSessionStoreOptions): Promise<SessionStore> {
  const connection = await openSessionConnection(url, connect, machine);
  const { run } = connection;
  const closers: (() => void)[] = [];
  const ends = createEndsReader(connection);

  return {
    nowMs: async () => Number(await run(NOW)),
    async create(session, tokens, { begunAtMs, perPersonMax }) {
      const { id, hash, provider, subject, providerSid, organization, idleMs, livesMs } = session;
      const { sealedTokens, accessLivesMs, refreshable } = tokenColumns(keys, hash, tokens);
      const sid = providerSid === undefined ? '' : sidName(provider, providerSid);
      const reply = await run(CREATE, [
        ...[hash, id, fixedPartOf(session), Math.floor(idleMs), Math.floor(livesMs), organization],
        ...[personName(provider, subject), sid],
        ...[sealedTokens, accessLivesMs, refreshable ? 1 : 0, begunAtMs, perPersonMax],
      ]);
      return sessionIn(reply);
    },
    find: async (hash) => sessionIn(await run(FIND, [hash])),
    get: async (id) => sessionIn(await run(GET, [id])),
    async list(of, { after, limit }) {
      const index = indexOf(of);
      const found: Session[] = [];
      let position: readonly (string | number)[] = after ? [after.createdAtMs, after.id] : [0, ''];
      for (let isAll = false; !isAll && found.length < limit; ) {
        const reply = await run(LIST, [...index, ...position, limit - found.length]);
        const [atEnd, next, rows] = reply as readonly [number, readonly string[], readonly SessionRow[]];
        found.push(...rows.map(toSession));
        position = next;
        isAll = atEnd === 1;
      }
      return found;
    },
    async touch(uses) {
      if (uses.size > 0) await run(TOUCH, [...uses].flat());
    },
    end: async (id, reason) => sessionIn(await run(END, [id, reason])),
    async endSubject(provider, subject, reason) {
      return sessionsIn(await run(END_PERSON, [personName(provider, subject), reason]));
    },
    async endByProvider(logout) {
      const reply = await run(END_BY_PROVIDER, [tokenName(logout), logout.rememberUntilMs, ...endedBy(logout)]);
      return reply === null ? undefined : sessionsIn(reply);
    },
    openTokens: (session) => openTokens(keys, session),
    refreshes: createRedisRefreshes({
      run,
      columnsOf: (hash, tokens) => tokenColumns(keys, hash, tokens),
      reconnectedForMs: connection.reconnectedForMs,
    }),
    ends: {
      since: ends.since,
      subscribe(onAnnounced) {
        const end = subscribe({
          url,
          channels: ends.channels,
          onMessage: onAnnounced,
          onSubscribed: onAnnounced,
          connect,
        });
        closers.push(end);
        return end;
      },
    },
    close() {
      for (const close of closers) close();
      connection.close();
    },
  };
}

function createEndsReader({ run, reconnects }: SessionConnection) {
  /** Identifies the data. The value changes after a wipe, and after a reconnect, because the server may have lost its last writes. */
  let state: string | undefined;
  let channel: string | undefined;

  async function since(sequence: number, limit: number): Promise<EndsRead> {
    // The number of reconnects is read before the call. If the connection breaks after that, the next call notices.
    const connections = reconnects();
    const [born, latest, nowMs, rows, name] = (await run(SINCE, [sequence, limit])) as SinceReply;
    channel = name;
    const now = `${born} ${connections}`;
    const isAnother = state !== undefined && state !== now;
    state = now;
    // The data is not the same. Sessions may be missing, ended sessions may have returned, and numbers may belong to other ends. Followers
    // have to start from the beginning.
    if (isAnother) return { latest: 0, changes: [], nowMs, isAnother };
    return { latest: Number(latest), changes: rows.map(endOf), nowMs };
  }

  async function channels(): Promise<readonly string[]> {
    if (channel === undefined) await since(Number.MAX_SAFE_INTEGER, 1);
    return [channel ?? `${SESSIONS}:ended`];
  }

  return { since, channels };
}

function endOf([position, members]: readonly [string, readonly string[]]): SessionEnd {
  const [, at, , id = '', , hash = '', , reason] = members;
  return {
    sequence: Number.parseInt(position, 10),
    atMs: Number(at),
    id,
    hash,
    reason: reason as SessionEnd['reason'],
  };
}

function indexOf(of: SessionsOf): readonly [string, string] {
  return 'organization' in of ? ['o', of.organization] : ['p', personName(of.person.provider, of.person.subject)];
}

/** Returns the kind and the name of the index for a logout token. */
function endedBy({ provider, sid, subject = '' }: ProviderLogout): readonly [string, string] {
  return sid === undefined ? ['p', personName(provider, subject)] : ['d', sidName(provider, sid)];
}
