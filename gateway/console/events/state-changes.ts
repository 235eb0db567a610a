// Pure: what has changed between two states of the gateway, as markers on charts: reloads, and workers that died.

import type { StatusForCauses } from '../causes/cause.ts';
import { firstChanges } from '../causes/recent-change.ts';
import { deathText } from '../causes/worker-causes.ts';
import type { GatewayEvent } from '../history/gateway-event.ts';

type Change = Pick<GatewayEvent, 'kind' | 'at' | 'text'>;

/** @param at the moment of the later state: ISO 8601, UTC */
export function stateChanges(before: StatusForCauses, next: StatusForCauses, at: string): Change[] {
  return [...reloadsIn(before, next), ...restartsIn(before, next, at)];
}

function reloadsIn(
  { configuration: last = {} }: StatusForCauses,
  { configuration: next = {} }: StatusForCauses,
): Change[] {
  const changes: Change[] = [];
  // A new worker loads the configuration in force once more, which changes nothing.
  const isOther = last.version !== undefined && next.version !== undefined && next.version !== last.version;
  if (isOther && next.loaded_at !== undefined)
    changes.push({ kind: 'reload', at: next.loaded_at, text: reloadText(next) });
  const failure = next.last_failure;
  if (failure && failure.at !== last.last_failure?.at) {
    const what = failure.needs_restart ? 'waits for a restart' : 'was refused';
    // Instances may have the same files in different directories.
    const text = `A changed configuration ${what}: ${(failure.mistakes[0] ?? '').replace(/^\S*\//, '')}`;
    changes.push({ kind: 'refused', at: failure.at, text });
  }
  return changes;
}

function restartsIn({ workers: last = [] }: StatusForCauses, { workers = [] }: StatusForCauses, at: string): Change[] {
  const before = new Map(last.map(({ worker, restarts = 0 }) => [worker, restarts]));
  return workers
    .filter(({ worker, restarts = 0 }) => restarts > (before.get(worker) ?? restarts))
    .map(({ worker, last_death: death }) => ({
      kind: 'restart',
      at: death?.at ?? at,
      text: `Worker ${worker} ${deathText(death)}; another one was started in its place.`,
    }));
}

/** Returns a text that names the changed settings, because the last change is the first suspect in an incident. */
function reloadText({ version = '', changes = [] }: NonNullable<StatusForCauses['configuration']>): string {
  return `The configuration ${version} was loaded${changes.length === 0 ? '' : `: ${firstChanges(changes)}`}.`;
}
