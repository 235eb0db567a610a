// The decision record of one exchange: its line of the access log.

import type { StageName } from '../../exchange.ts';

/** The line, parsed. */
export type DecisionRecord = Readonly<Record<string, unknown>>;

/** Returns the duration of each stage in milliseconds. Fast exchanges record only that of the upstream. */
export function durationsOf({
  stages_ms: stages,
  upstream_ms: upstreamMs,
}: DecisionRecord): Partial<Record<StageName, number>> {
  if (typeof stages === 'object' && stages !== null) return stages as Partial<Record<StageName, number>>;
  return typeof upstreamMs === 'number' ? { forward: upstreamMs } : {};
}
