// The parsed log line of one exchange, and the durations in it. A rehearsal makes the same kind of line. Documents for operators call it
// the decision record.

import type { LogFieldName } from '../catalogue/log-fields.ts';
import type { StageName } from '../stages.ts';

/** The members of a log line, including the members that only a rehearsal adds. */
export type LogLineMember = LogFieldName | 'rehearsed' | 'times' | 'open_streams_max';

export type LogLine = { readonly [Name in LogLineMember]?: unknown };

/** Returns the duration of each stage in milliseconds. The line of a fast exchange contains only the duration of the upstream. */
export function durationsOf({
  stages_ms: stages,
  upstream_ms: upstreamMs,
}: LogLine): Partial<Record<StageName, number>> {
  if (typeof stages === 'object' && stages !== null) return stages as Partial<Record<StageName, number>>;
  return typeof upstreamMs === 'number' ? { forward: upstreamMs } : {};
}
