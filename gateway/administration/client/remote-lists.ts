// What the actions by a remote contract share: the size of pages, and the sentence for a record that is not there.

import { ServerProblem } from './server-problem.ts';

/** The largest that the contract allows. */
export const PAGE_SIZE = 100;

/**
 * Resolves as `asking` does. If it is refused with this code, rejects with a sentence that names the record. @param sentence without the
 * period
 */
export async function orAbsent<T>(asking: Promise<T>, sentence: string, code = 'resource_missing'): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (!(error instanceof ServerProblem) || error.answered.code !== code) throw error;
    throw new ServerProblem(`${sentence}${error.source}.`, error.answered);
  }
}

/** `/organizations/org_acme`, or nothing for the organization of the key itself. */
export function scopeOf(organization: string | undefined): string {
  return organization === undefined ? '' : `/organizations/${encodeURIComponent(organization)}`;
}

/** Undefined stays undefined: the query then lacks it. */
export function isoTime(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : new Date(atMs).toISOString();
}

/** `wait` of a change, in whole seconds; undefined if the change is not waited for. */
export function waitSecondsOf(waitMs: number | undefined): number | undefined {
  return waitMs === undefined ? undefined : Math.max(1, Math.ceil(waitMs / 1000));
}
