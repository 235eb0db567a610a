// The decision record of one exchange: its line of the access log, or what a rehearsal found.

import type { LogFieldName } from '../catalogue/log-fields.ts';
import type { StageName } from '../stages.ts';

/** The members of a log line, and those that a rehearsal adds. */
export type RecordName = LogFieldName | 'rehearsed' | 'times' | 'open_streams_max';

/** The line, parsed. */
export type DecisionRecord = { readonly [Name in RecordName]?: unknown };

/** An object within the line, of a violation or a limit. */
export type Members = Readonly<Record<string, unknown>>;

/** Returns the duration of each stage in milliseconds. Fast exchanges record only that of the upstream. */
export function durationsOf({
  stages_ms: stages,
  upstream_ms: upstreamMs,
}: DecisionRecord): Partial<Record<StageName, number>> {
  if (typeof stages === 'object' && stages !== null) return stages as Partial<Record<StageName, number>>;
  return typeof upstreamMs === 'number' ? { forward: upstreamMs } : {};
}
