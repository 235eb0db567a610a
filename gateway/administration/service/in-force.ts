// Makes `in_force` of an answer, which says how many running gateways have put the change in force.

import { awaitConfirmations } from '../confirmations.ts';
import type { AdministrationDeps } from '../deps.ts';
import type { Call } from './call.ts';

export interface InForce {
  readonly confirmed: number;
  readonly unconfirmed: number;
  readonly waited_ms: number;
}

/**
 * Waits as long as the call asks for. Returns the numbers of instances; their names are for the operators of the machines. Returns an empty
 * object if the call does not wait, or if the numbers cannot be read. The change is made already, and its answer, which may contain a new
 * key, must not be lost.
 */
export async function inForceAfter(
  { dryRun, waitMs }: Pick<Call, 'dryRun' | 'waitMs'>,
  { store }: Pick<AdministrationDeps, 'store'>,
): Promise<{ readonly in_force?: InForce }> {
  if (dryRun || waitMs === undefined) return {};
  try {
    const { waitedMs, confirmed, unconfirmed } = await awaitConfirmations(store, waitMs);
    const waited_ms = Math.round(waitedMs);
    return { in_force: { confirmed: confirmed.length, unconfirmed: unconfirmed.length, waited_ms } };
  } catch {
    return {};
  }
}
