// Defects of sessions: leases and fences of refreshes, ends that do not hold, uses that are forgotten.

import { of } from './mutation.ts';

const LEASES = 'sessions/store/redis/refreshes.ts';
const STORE = 'sessions/store/redis/redis-session-store.ts';
const HELD = 'sessions/refresh/held-lease.ts';
const REFRESHER = 'sessions/refresh/refresher.ts';
const LIVE = 'sessions/live/live-sessions.ts';

export const SESSIONS = of('sessions', [
  ['a lease is taken although it is held', LEASES, 'if holder and holder ~= owner then', 'if false then'],
  [
    'a token that may have been redeemed is sent again',
    LEASES,
    "if sent and not may_repeat(sent, reuse) then return { 'unknown', row } end",
    '',
  ],
  ['a token is sent without a word to the store', HELD, 'if (sentAt === undefined)', 'if (true)'],
  ['a holder sends although another one has the lease', HELD, 'return !isSuperseded &&', 'return'],
  ['a lease is not renewed', HELD, 'RENEW_EVERY_MS = 1000', 'RENEW_EVERY_MS = 1e9'],
  [
    'a token whose redemption is unknown is given back',
    REFRESHER,
    "if (outcome.redeemed === 'no') await",
    'if (true) await',
  ],
  ['a refused token is tried again', REFRESHER, "await this.#settler.settle(() => end(session, 'refused'));", ''],
  ['new tokens are stored once, or not at all', REFRESHER, 'await this.#settler.settle(put)', 'await put()'],
  ['leases are taken as soon as Redis is back', LEASES, 'QUIET_MS = 4000', 'QUIET_MS = 0'],
  [
    'a full Redis keeps new tokens out',
    LEASES,
    "call('HDEL', key, 'owner', 'until', 'sent', 'sender')\ncall('HSET', key, 'tokens'",
    "call('HSET', key, 'tokens'",
  ],
  ['an end leaves streams open', LIVE, 'this.#watched.end(id, reason);', ''],
  ['an end is not followed', LIVE, 'onChange: (end) => this.#drop(end),', 'onChange: () => undefined,'],
  [
    'a process that cannot read the ends trusts its cache',
    LIVE,
    'found !== undefined && this.#reads.mayUseCache() &&',
    'found !== undefined &&',
  ],
  ['ends that Redis has lost are not written again', LIVE, 'this.#recentEnds.repeatAll();', ''],
  ['a stream outlives a session that Redis has lost', LIVE, 'this.#expired.doubtAll();', ''],
  [
    'a logout loses against a login in progress',
    STORE,
    "if sid ~= '' and call('EXISTS', index_key('ls', sid)) == 1 then return false end",
    '',
  ],
  [
    'the end of a person loses against a login in progress',
    STORE,
    'if ended and tonumber(ended) >= begun then return false end\n',
    '',
  ],
  [
    'a cached session does not end when it is idle',
    'sessions/live/known-sessions.ts',
    'nowMs < session.endsAtMs && nowMs < usedAtMs + session.idleMs',
    'nowMs < session.endsAtMs',
  ],
  ['uses are not written', STORE, 'if (uses.size > 0) await run(TOUCH, [...uses].flat());', ''],
  [
    'the end of a person ends one session only',
    'sessions/store/redis/session-script.ts',
    "for _, id in ipairs(call('ZRANGE', index, 0, -1)) do\n    rows",
    "for _, id in ipairs(call('ZRANGE', index, 1, -1)) do\n    rows",
  ],
]);
