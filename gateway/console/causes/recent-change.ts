// Pure: says in a sentence of a cause what the last reload changed, because in an incident, the last change is the first suspect.

import type { StatusForCauses } from './cause.ts';

/** A change this long ago may still be the reason. */
const CHANGED_MS = 15 * 60_000;
const CHANGES_NAMED_MAX = 2;

/**
 * Returns a sentence with a blank before it; empty if nothing below that key was changed lately.
 *
 * @param key the start of the changed key, such as `limits.yaml ` or `upstreams.yaml upstreams.orders`
 * @param isSuspect whether a change, without its file name, may be the reason
 */
export function recentChange(
  { configuration }: StatusForCauses,
  key: string,
  nowMs: number,
  isSuspect: (change: string) => boolean = () => true,
): string {
  const { changes = [], loaded_at: at } = configuration ?? {};
  const [file = ''] = key.split(' ');
  const below = changes.flatMap((change) => (change.startsWith(key) ? [change.slice(file.length + 1)] : []));
  const changed = below.filter(isSuspect);
  if (at === undefined || changed.length === 0 || nowMs - Date.parse(at) > CHANGED_MS) return '';
  return ` ${file} changed at ${at}: ${firstChanges(changed)}.`;
}

/** Returns the first of the changes, and the number of the others. */
export function firstChanges(changes: readonly string[]): string {
  const more = changes.length > CHANGES_NAMED_MAX ? `, and ${changes.length - CHANGES_NAMED_MAX} more` : '';
  return `${changes.slice(0, CHANGES_NAMED_MAX).join(', ')}${more}`;
}
