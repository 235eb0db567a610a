// Runs checks and collects their findings. A check never throws and never takes longer than its timeout.

import { setTimeout as sleep } from 'node:timers/promises';
import { WireFault } from '../http1/client/wire.ts';

type FindingVerdict = 'ok' | 'warn' | 'fail';

export interface Finding {
  /** The name of the check, possibly with its object. */
  readonly check: string;
  readonly verdict: FindingVerdict;
  /** One sentence. */
  readonly says: string;
  /** The remedy; absent for `ok`. */
  readonly remedy?: string;
}

type DoctorCheck = () => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>;

export type NamedCheck = readonly [name: string, check: DoctorCheck];

/** The remedy of a check that failed for a reason that only the message contains. */
export const CORRECT_THE_CAUSE = 'Correct the cause that the message names, then run the command again.';

export function ok(check: string, says: string): Finding {
  return { check, verdict: 'ok', says };
}

export function warn(check: string, says: string, remedy: string): Finding {
  return { check, verdict: 'warn', says, remedy };
}

export function fail(check: string, says: string, remedy: string): Finding {
  return { check, verdict: 'fail', says, remedy };
}

/** Returns the reason of an error: its code, such as ECONNREFUSED, otherwise its message. */
export function reasonOf(error: unknown): string {
  if (error instanceof WireFault) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message ?? String(error);
}

/** Runs one check. An error or a timeout becomes a finding. Never rejects. */
export async function findingsOf([name, check]: NamedCheck, patienceMs: number): Promise<readonly Finding[]> {
  const ended = new AbortController();
  const late = sleep(patienceMs, undefined, { signal: ended.signal }).then(
    () => fail(name, `No answer within ${patienceMs / 1000} s.`, 'Check the network between this machine and it.'),
    () => [],
  );
  try {
    return [await Promise.race([check(), late])].flat();
  } catch (error) {
    return [fail(name, `This could not be checked (${reasonOf(error)}).`, CORRECT_THE_CAUSE)];
  } finally {
    ended.abort();
  }
}
