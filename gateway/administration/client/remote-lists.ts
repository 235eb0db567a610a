// Shared code of the actions at a remote gateway, for paths, the size of pages, and the sentence for a missing record.

import { ServerProblem } from './server-problem.ts';

/** The largest that the contract allows. */
export const PAGE_SIZE = 100;

/**
 * Resolves as `asking` does. If the request is refused with this code, rejects with a sentence that names the record. @param sentence the
 * sentence without its period
 */
export async function orAbsent<T>(asking: Promise<T>, sentence: string, code = 'resource_missing'): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (!(error instanceof ServerProblem) || error.answered.code !== code) throw error;
    throw new ServerProblem(`${sentence}${error.source}.`, error.answered);
  }
}

/** Returns the beginning of a path, such as `/organizations/org_acme`; empty for the organization of the acting key. */
export function scopeOf(organization: string | undefined): string {
  return organization === undefined ? '' : `/organizations/${encodeURIComponent(organization)}`;
}

/** Returns the parameter `wait` of a change, in whole seconds; undefined if the command does not wait. */
export function waitSecondsOf(waitMs: number | undefined): number | undefined {
  return waitMs === undefined ? undefined : Math.max(1, Math.ceil(waitMs / 1000));
}
