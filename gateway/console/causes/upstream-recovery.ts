// Pure: an upstream that works again stays a cause, marked as over, while the counts of the last minute still include its failed requests.

import { type About, type FoundCause, type StatusForCauses, warningCause } from './cause.ts';
import type { PresentTraffic } from './present.ts';
import { count, telling } from './telling.ts';
import { recoveryOf } from './traffic-causes.ts';

/** The age of the oldest of the latest counts. If a failure ended earlier, the failures in these counts are new failures. */
const LATEST_MS = 30_000;

/** Returns upstreams that work again, while the figures of the last minute still show their failure. */
export function recoveringUpstreams(
  { upstreams = {} }: StatusForCauses,
  found: readonly FoundCause[],
  present: PresentTraffic,
  culprits: readonly About[],
): FoundCause[] {
  return Object.keys(upstreams).flatMap((name) => {
    const about = culprits.find((one) => isOfUpstream(one, name));
    const now = about && recoveryOf(present, name);
    if (about === undefined || now === undefined || found.some((one) => isOfUpstream(one.about, name))) return [];
    const { names, requests, failed, isRecovering } = now;
    const counted = telling`${count('failed')} of ${count('requests')} requests failed in the last minute`;
    const cause = isRecovering
      ? telling`is recovering: ${counted}, none in the last 15 seconds.`
      : telling`answers again: ${counted}.`;
    const figures = { requests, failed };
    const details = `#/upstreams/${encodeURIComponent(name)}`;
    const more = {
      title: `Upstream ${name} fails.`,
      runbook: 'GatewayTargetDown',
      details,
      figures,
      extent: { of: 'operations', names, span: 'minute' } as const,
      hasRecovered: true as const,
    };
    return [warningCause(about, telling`Upstream ${name} ${cause}`, '', more)];
  });
}

/** Whether requests to an upstream still fail although its targets work. Its operations are then shown as the cause. */
export function failsOn(
  { topic, name }: About,
  status: StatusForCauses,
  present: PresentTraffic,
  agoMs: number,
): boolean {
  if (topic !== 'upstream' || name === undefined || status.upstreams?.[name] === undefined) return false;
  return agoMs >= LATEST_MS && recoveryOf(present, name)?.isRecovering === false;
}

/** Whether a cause is about an upstream itself, and not about its operations. */
export function isOfUpstream({ topic, name }: About, upstream: string): boolean {
  return topic === 'upstream' && name === upstream;
}
