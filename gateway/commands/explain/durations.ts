// Pure: the duration of each stage in milliseconds. Fast exchanges record only that of the upstream.

import type { PublishedStageName } from '../../exchange.ts';
import type { DecisionRecord } from './report.ts';

export function durationsOf({
  stages_ms: stages,
  upstream_ms: upstreamMs,
}: DecisionRecord): Partial<Record<PublishedStageName, number>> {
  if (typeof stages === 'object' && stages !== null) return stages as Partial<Record<PublishedStageName, number>>;
  return typeof upstreamMs === 'number' ? { forward: upstreamMs } : {};
}
