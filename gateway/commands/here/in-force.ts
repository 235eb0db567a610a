// Waits after a change on this machine until every running gateway has put it in force, and reports the gateways that have not.

import type { InForceReport, MadeChange } from '../../administration/actions.ts';
import {
  awaitConfirmations,
  type Confirmations,
  type ReportedInstance,
  SILENT_MS,
} from '../../administration/confirmations.ts';
import type { KeyStore } from '../../auth/store/key-store.ts';
import type { MachineContext } from '../context.ts';
import { shortSeconds, shortTime, timeOrNull } from '../print.ts';

/** Returns the result of a change. @param waitMs undefined if the command does not wait */
export function resultOf<Result>(
  { now }: Pick<MachineContext, 'now'>,
  store: KeyStore,
  result: Result,
  waitMs: number | undefined,
): MadeChange<Result> {
  if (waitMs === undefined) return { result, inForce: undefined };
  return { result, inForce: async () => toInForce(await awaitConfirmations(store, waitMs), now()) };
}

function toInForce({ waitedMs, confirmed, unconfirmed }: Confirmations, nowMs: number): InForceReport {
  return {
    confirmed: confirmed.length,
    unconfirmed: unconfirmed.length,
    waitedMs,
    missing: unconfirmed.map((one) => `${one.host}, pid ${one.pid}: ${meaningOf(one, nowMs)}`),
    json: {
      waited_ms: Math.round(waitedMs),
      confirmed: confirmed.map(instanceJson),
      unconfirmed: unconfirmed.map((one) => ({
        ...instanceJson(one),
        grace_ends_at: timeOrNull(graceEndOf(one, nowMs)),
      })),
    },
  };
}

function instanceJson({ id, host, pid, silentMs }: ReportedInstance) {
  return { id, host, pid, silent_ms: Math.round(silentMs) };
}

function meaningOf(one: ReportedInstance, nowMs: number): string {
  const silence = `silent for ${shortSeconds(one.silentMs)}.`;
  if (one.silentMs <= SILENT_MS) return `${silence} It is behind; ask again.`;
  const until = shortTime(graceEndOf(one, nowMs));
  return `${silence} It is gone, or cut off from the store and may let known keys in until ${until}.`;
}

function graceEndOf({ silentMs, graceMs }: ReportedInstance, nowMs: number): number {
  return nowMs - silentMs + graceMs;
}
