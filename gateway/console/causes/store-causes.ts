// Pure: finds the cause and the consequences of stores that cannot be used. The stores are one cause, because Redis may contain all of
// them.

import { AWAY, firstFailureOf, lossesOf } from '../stores.ts';
import { type FoundCause, failureCause, type StatusForCauses } from './cause.ts';
import { diskCauses } from './disk-cause.ts';

const NO_WRITES = /MISCONF|READONLY|OOM/;
const UNREACHED = /cannot be reached|ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|(is|was) closed/;

/** Returns the cause if stores cannot be used. @param nowMs decides whether the grace of known keys is over */
export function storeCauses(status: StatusForCauses, nowMs: number): FoundCause[] {
  const disk = diskCauses(status, nowMs);
  return disk.some(({ kind }) => kind === 'bad') ? disk : [...causesWithRoom(status, nowMs), ...disk];
}

function causesWithRoom(status: StatusForCauses, nowMs: number): FoundCause[] {
  const { keys = {}, limits = {}, redis } = status;
  const refusal = refusalOfRedis(status);
  if (refusal !== undefined) return [...emptyStoreCauses(status), withoutWrites(status, refusal, nowMs)];
  const keysAway = AWAY.includes(keys.store ?? '');
  const limitsAway = limits.state === 'away';
  const losses = lossesOf(withoutLastRefusal(status), nowMs);
  if (losses.length === 0) return [...emptyStoreCauses(status), ...refusedWriteCauses(status)];
  const reason =
    redis?.failure ?? (limitsAway ? (limits.reason ?? keys.reason) : (keys.reason ?? firstFailureOf(status).reason));
  const cause =
    redis === undefined
      ? `The ${losses.map(({ name }) => name).join(' and the ')} cannot be used${reason ? `: ${reason}` : ''}`
      : `Redis ${redis.address} ${fault(reason)}`;
  return [
    failureCause(
      { topic: redis === undefined ? 'stores' : 'redis' },
      `${cause}.`,
      `${sentence(losses.map(({ lost }) => lost).join('; '))}.${redis === undefined ? '' : ' This ends by itself when Redis answers again.'}`,
      {
        since: limitsAway ? limits.since_at : keysAway ? keys.read_at : firstFailureOf(status).since_at,
        until: keysAway ? keys.grace_ends_at : undefined,
        runbook: limitsAway && !keysAway ? 'GatewayLimitStoreAway' : 'GatewayKeyStoreAway',
        details: '#/system',
      },
    ),
  ];
}

/**
 * Returns why Redis takes no writes although it can be reached; undefined if it takes them, or cannot be reached. Not every store has
 * tried to write, or says so, so the reason of any of them is the reason of all.
 */
function refusalOfRedis(status: StatusForCauses): string | undefined {
  const { keys = {}, limits, redis } = status;
  if (redis === undefined) return undefined;
  const isAway = (reason: string | undefined) => reason !== undefined && !NO_WRITES.test(reason);
  if (isAway(redis.failure) || (AWAY.includes(keys.store ?? '') && isAway(keys.reason))) return undefined;
  const reasons = [redis.failure, keys.writeFailure, limits?.state === 'away' && limits.reason];
  return reasons.find((reason): reason is string => typeof reason === 'string' && NO_WRITES.test(reason));
}

/** Returns the cause with the id of an outage of Redis, which such a failure begins and ends. */
function withoutWrites(status: StatusForCauses, refusal: string, nowMs: number): FoundCause {
  const { keys = {}, limits = {}, idempotency, redis } = status;
  // A replica that copies an empty server has no key store, which the first call would begin.
  const keysAway = AWAY.includes(keys.store ?? '');
  const losses = lossesOf({ keys, limits, ...(idempotency && { idempotency: { state: 'away' } }) }, nowMs);
  const lost = [
    ...losses.map((one) => one.lost),
    `${keysAway ? '' : 'all keys still work, but '}changes of keys and last uses are not stored`,
  ];
  return failureCause(
    { topic: 'redis' },
    `Redis ${redis?.address} ${fault(refusal)}.`,
    `${sentence(lost.join('; '))}. This ends by itself when Redis takes writes again.`,
    {
      since: limits.state === 'away' ? limits.since_at : firstFailureOf(status).since_at,
      runbook: keysAway ? 'GatewayKeyStoreAway' : 'GatewayLimitStoreAway',
      // An outage of Redis and each reason why it takes no writes are separate incidents.
      fault: fault(refusal),
      reason: fault(refusal),
      details: '#/system',
    },
  );
}

/** The idempotency store learns that Redis takes writes again only by its next write; the other stores try more often. */
function withoutLastRefusal(status: StatusForCauses): StatusForCauses {
  const { idempotency, redis } = status;
  const isOver = redis !== undefined && idempotency?.state === 'away' && NO_WRITES.test(idempotency.reason ?? '');
  return isOver ? { ...status, idempotency: { state: 'up' } } : status;
}

/** Returns the cause if the key store was wiped under a running gateway. */
function emptyStoreCauses({ keys: { emptied_at: since } = {}, redis }: StatusForCauses): FoundCause[] {
  if (since === undefined) return [];
  const where = redis === undefined ? 'The key store' : `The key store in Redis ${redis.address}`;
  return [
    failureCause(
      { topic: 'keys lost' },
      `${where} is empty: it was wiped, or came back without its data.`,
      'Every key gets 401 api_key_invalid until the organizations and keys of the latest export are imported. No restart is needed. Replace keys.jsonl by the file that you wrote with `keys export`; without one, create the organizations and keys again.',
      { since, runbook: 'GatewayKeyStoreEmpty', details: '#/system' },
    ),
  ];
}

/** Returns the cause if the key store can be read but takes no writes, for reasons other than those of `refusalOfRedis`. */
function refusedWriteCauses({ keys = {}, redis }: StatusForCauses): FoundCause[] {
  const { writeFailure: failure } = keys;
  // For two seconds after an outage, the last write is a write that failed because of the outage.
  if (failure === undefined || UNREACHED.test(failure)) return [];
  const what = redis === undefined ? 'The key store' : `Redis ${redis.address}`;
  const takesNone = `takes no writes: ${failure.replace(/\.+$/, '')}`;
  const topic = redis === undefined ? 'store writes' : 'redis';
  const links = { runbook: 'GatewayKeyStoreAway', details: '#/system' };
  return [failureCause({ topic }, `${what} ${takesNone}.`, 'Changes of keys and last uses are not stored.', links)];
}

function fault(reason = ''): string {
  if (/ECONNREFUSED/.test(reason)) return 'refuses connections';
  if (/ENOTFOUND|EAI_AGAIN/.test(reason)) return 'has no address';
  if (/ETIMEDOUT|no right answer|timed out|timeout|EHOSTUNREACH/i.test(reason)) return 'does not answer';
  if (/was closed|is closed|ECONNRESET/i.test(reason)) return 'closed the connection and takes no new one';
  if (/OOM/.test(reason)) return 'is full and takes no writes';
  if (/MISCONF/.test(reason)) return 'cannot write to its disk (MISCONF) and takes no writes';
  if (/READONLY/.test(reason)) return 'is a replica and takes no writes';
  if (/LOADING/.test(reason)) return 'is loading its data';
  return reason === '' ? 'cannot be used' : `cannot be used: ${reason.replace(/\.+$/, '')}`;
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
