// Pure: upstreams whose failure is over, and still in the counts of the last minute.

import { type Cause, type StatusForCauses, warningCause } from './cause.ts';
import { type Present, recoveryOf } from './traffic-causes.ts';

/** The latest counts are of at most so long: what they show began after a failure that was over before. */
const LATEST_MS = 30_000;

/** Upstreams that work again, while the figures of the last minute still show their failure. */
export function recoveringUpstreams(
  { upstreams = {} }: StatusForCauses,
  found: readonly Cause[],
  present: Present,
  culprits: readonly string[],
): Cause[] {
  return Object.keys(upstreams).flatMap((name) => {
    const id = culprits.find((one) => one.startsWith(`upstream ${name} `));
    const now = id === undefined ? undefined : recoveryOf(present, name);
    if (id === undefined || now === undefined || found.some((one) => one.id.startsWith(`upstream ${name} `))) return [];
    const { requests, failed, isRecovering } = now;
    const counted = `${failed} of ${requests} requests failed in the last minute`;
    const cause = isRecovering
      ? `is recovering: ${counted}, none in the last 15 seconds.`
      : `answers again: ${counted}.`;
    const figures = { requests, failed };
    const details = `#/upstreams/${encodeURIComponent(name)}`;
    const more = {
      title: `Upstream ${name} fails.`,
      runbook: 'GatewayTargetDown',
      details,
      figures,
      hasRecovered: true as const,
    };
    return [warningCause(id, `Upstream ${name} ${cause}`, '', more)];
  });
}

/** Whether the failures of an upstream go on although nothing is wrong with its targets: its operations then tell them. */
export function failsOn(id: string, { upstreams = {} }: StatusForCauses, present: Present, agoMs: number): boolean {
  const name = Object.keys(upstreams).find((one) => id.startsWith(`upstream ${one} `));
  return agoMs >= LATEST_MS && name !== undefined && recoveryOf(present, name)?.isRecovering === false;
}
