// Pure: the cause and the consequences of stores that cannot be used. They are one cause, because Redis may hold all of them.

import { type Cause, failureCause, type StatusForCauses, type StoreStates } from './cause.ts';

const AWAY = ['failing', 'away'];
const UNREACHED = /cannot be reached|ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|(is|was) closed/;

interface StoreRow<State> {
  /** The store, in a sentence such as "The key store cannot be used". */
  readonly name: string;
  /** What clients lose now; undefined if the store can be used. */
  lost(state: State, nowMs: number): string | undefined;
}

/** The stores whose outage clients notice; undefined for the others. A store without a row does not compile. */
const STORES: { readonly [Name in keyof StoreStates]-?: StoreRow<NonNullable<StoreStates[Name]>> | undefined } = {
  keys: {
    name: 'key store',
    lost: ({ store = '', grace_ends_at: graceEndsAt }, nowMs) =>
      AWAY.includes(store) ? ofKeys(graceEndsAt, nowMs) : undefined,
  },
  limits: {
    name: 'store of limits',
    lost: ({ state, policyInForce = '' }) =>
      state === 'away' ? (ofLimits[policyInForce] ?? 'limits are not shared') : undefined,
  },
  idempotency: {
    name: 'store of idempotent answers',
    lost: ({ state }) => (state === 'away' ? 'writes with an Idempotency-Key get 503' : undefined),
  },
  deprecated_uses: {
    name: 'store of deprecated calls',
    lost: ({ state }) => (state === 'away' ? 'calls of deprecated operations are counted later' : undefined),
  },
  // Counts of use wait in the process until they can be stored.
  usage: undefined,
  // Sessions are in the same Redis as the keys, so the row of the keys covers its outage.
  sessions: undefined,
};

/** @param nowMs decides whether the grace of known keys is over */
export function redisCause(status: StatusForCauses, nowMs: number): Cause[] {
  const { keys = {}, limits = {}, redis } = status;
  const keysAway = AWAY.includes(keys.store ?? '');
  const limitsAway = limits.state === 'away';
  const losses = lossesOf(status, nowMs);
  if (losses.length === 0) return ofWrites(status);
  const reason = redis?.failure ?? (limitsAway ? (limits.reason ?? keys.reason) : keys.reason);
  const cause =
    redis === undefined
      ? `The ${losses.map(({ name }) => name).join(' and the ')} cannot be used${reason ? `: ${reason}` : ''}`
      : `Redis ${redis.address} ${fault(reason)}`;
  return [
    failureCause(
      redis === undefined ? 'stores' : 'redis',
      `${cause}.`,
      `${sentence(losses.map(({ lost }) => lost).join('; '))}.`,
      {
        since: limitsAway ? limits.since_at : keysAway ? keys.read_at : undefined,
        until: keysAway ? keys.grace_ends_at : undefined,
        runbook: keysAway ? 'GatewayKeyStoreAway' : limitsAway ? 'GatewayLimitStoreAway' : undefined,
        details: '#/system',
      },
    ),
  ];
}

function lossesOf(status: StoreStates, nowMs: number): { readonly name: string; readonly lost: string }[] {
  return (Object.keys(STORES) as (keyof StoreStates)[]).flatMap((member) => {
    const store = STORES[member] as StoreRow<object> | undefined;
    const lost = store?.lost(status[member] ?? {}, nowMs);
    return store === undefined || lost === undefined ? [] : [{ name: store.name, lost }];
  });
}

/** Returns the cause if the key store, or Redis, can be read but takes no writes. */
function ofWrites({ keys = {}, redis }: StatusForCauses): Cause[] {
  const { writeFailure: failure } = keys;
  // For two seconds after an outage, the last write is one that failed because of the outage.
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
