// Pure: computes how long an upstream takes to respond, now and in the hour before, as the median without the wait for a place.

import { quantileMs } from '../history/figures.ts';
import type { PresentCounts } from '../history/history-counts.ts';

export interface ServiceTimes {
  readonly nowMs: number;
  /** The time of the service before; undefined without requests in that time. */
  readonly beforeMs: number | undefined;
}

/** Undefined without requests in the last minute. */
export function serviceTimes(
  { bounds, upstreams }: { readonly bounds: readonly number[]; readonly upstreams: readonly PresentCounts[] },
  upstream: string,
): ServiceTimes | undefined {
  const counts = upstreams.find(({ name }) => name === upstream);
  const nowMs = counts && (quantileMs(bounds, counts.latest, 0.5) ?? quantileMs(bounds, counts.minute, 0.5));
  if (counts === undefined || nowMs == null) return undefined;
  return { nowMs, beforeMs: quantileMs(bounds, counts.hour, 0.5) ?? undefined };
}

/** The value of the histogram for all durations above its last bound. */
const ABOVE_BOUNDS_MS = 10_000;

/** Writes a duration with two digits, because most durations are estimates. */
export function estimateText(ms: number): string {
  if (ms === ABOVE_BOUNDS_MS) return '10 s or more';
  return ms >= 1000 ? `${Number((ms / 1000).toPrecision(2))} s` : `${Number(ms.toPrecision(2))} ms`;
}
