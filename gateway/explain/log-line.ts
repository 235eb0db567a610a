// The log line of one exchange, parsed. A rehearsal makes such a line, too. Operators know it as the decision record.

import type { LogFieldName } from '../catalogue/log-fields.ts';
import type { StageName } from '../stages.ts';

/** The members of a log line, and those that a rehearsal adds. */
export type LogLineMember = LogFieldName | 'rehearsed' | 'times' | 'open_streams_max';

export type LogLine = { readonly [Name in LogLineMember]?: unknown };

/** Returns the duration of each stage in milliseconds. The line of a fast exchange has only that of the upstream. */
export function durationsOf({
  stages_ms: stages,
  upstream_ms: upstreamMs,
}: LogLine): Partial<Record<StageName, number>> {
  if (typeof stages === 'object' && stages !== null) return stages as Partial<Record<StageName, number>>;
  return typeof upstreamMs === 'number' ? { forward: upstreamMs } : {};
}
