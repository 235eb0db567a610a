// Pure: the cause and the consequences of stores that cannot be used. Redis may hold all of them: its outage is one cause.

import { type Cause, failureCause, type StatusForCauses, type StoreStates } from './cause.ts';

const AWAY = ['failing', 'away'];
const UNREACHED = /cannot be reached|ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|(is|was) closed/;

/** What clients lose without each store; undefined if it can be used, or if they lose nothing. A store without a row does not compile. */
const CONSEQUENCES: {
  readonly [Name in keyof StoreStates]-?: (state: NonNullable<StoreStates[Name]>, nowMs: number) => string | undefined;
} = {
  keys: ({ store = '', grace_ends_at: graceEndsAt }, nowMs) =>
    AWAY.includes(store) ? ofKeys(graceEndsAt, nowMs) : undefined,
  limits: ({ state, policyInForce = '' }) =>
    state === 'away' ? (ofLimits[policyInForce] ?? 'limits are not shared') : undefined,
  idempotency: ({ state }) => (state === 'away' ? 'writes with an Idempotency-Key get 503' : undefined),
  deprecated_uses: ({ state }) => (state === 'away' ? 'calls of deprecated operations are counted later' : undefined),
  // Counts of use wait in the process.
  usage: () => undefined,
  // Sessions lie in the Redis that has the keys, whose consequence is told.
  sessions: () => undefined,
};

/** @param nowMs decides whether the grace of known keys is over */
export function redisCause(status: StatusForCauses, nowMs: number): Cause[] {
  const { keys = {}, limits = {}, redis } = status;
  const keysAway = AWAY.includes(keys.store ?? '');
  const limitsAway = limits.state === 'away';
  const consequences = consequencesOf(status, nowMs);
  if (consequences.length === 0) return ofWrites(status);
  const reason = redis?.failure ?? (limitsAway ? (limits.reason ?? keys.reason) : keys.reason);
  const cause =
    redis === undefined
      ? `The ${keysAway ? 'key store' : 'store of idempotent answers'} cannot be used${reason ? `: ${reason}` : ''}`
      : `Redis ${redis.address} ${fault(reason)}`;
  return [
    failureCause(redis === undefined ? 'stores' : 'redis', `${cause}.`, `${sentence(consequences.join('; '))}.`, {
      since: limitsAway ? limits.since_at : keysAway ? keys.read_at : undefined,
      until: keysAway ? keys.grace_ends_at : undefined,
      runbook: keysAway ? 'GatewayKeyStoreAway' : limitsAway ? 'GatewayLimitStoreAway' : undefined,
      details: '#/system',
    }),
  ];
}

function consequencesOf(status: StoreStates, nowMs: number): string[] {
  const names = Object.keys(CONSEQUENCES) as (keyof StoreStates)[];
  const consequenceOf = (name: keyof StoreStates) =>
    (CONSEQUENCES[name] as (state: object, nowMs: number) => string | undefined)(status[name] ?? {}, nowMs);
  return names.map(consequenceOf).filter((one) => one !== undefined);
}

/** The store can be read, but takes no writes. */
function ofWrites({ keys = {}, redis }: StatusForCauses): Cause[] {
  const { writeFailure: failure } = keys;
  // After an outage the last write is of before its end; the next one is made within two seconds.
  if (failure === undefined || UNREACHED.test(failure)) return [];
  const what = redis === undefined ? 'The key store' : `Redis ${redis.address}`;
  return [
    failureCause(
      'store writes',
      `${what} takes no writes: ${failure.replace(/\.+$/, '')}.`,
      'Changes of keys and last uses are not stored.',
      {
        runbook: 'GatewayKeyStoreAway',
        details: '#/system',
      },
    ),
  ];
}

function ofKeys(graceEndsAt: string | undefined, nowMs: number): string {
  if (graceEndsAt === undefined) return 'keys cannot be looked up';
  if (Date.parse(graceEndsAt) <= nowMs) return 'no key works any more: requests get 503 auth_unavailable';
  return `known keys work until ${graceEndsAt}, others get 503`;
}

const ofLimits: Readonly<Record<string, string>> = {
  local: 'limits are counted per instance',
  allow: 'no limit is enforced',
  refuse: 'requests under a limit get 503',
};

function fault(reason = ''): string {
  if (/ECONNREFUSED/.test(reason)) return 'refuses connections';
  if (/ENOTFOUND|EAI_AGAIN/.test(reason)) return 'has no address';
  if (/ETIMEDOUT|no right answer|timed out|EHOSTUNREACH/i.test(reason)) return 'does not answer';
  if (/was closed|is closed|ECONNRESET/i.test(reason)) return 'closed the connection and takes no new one';
  if (/OOM/.test(reason)) return 'is full and takes no writes';
  if (/READONLY/.test(reason)) return 'is a replica and takes no writes';
  if (/LOADING/.test(reason)) return 'is loading its data';
  return reason === '' ? 'cannot be used' : `cannot be used: ${reason}`;
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
