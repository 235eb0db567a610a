// Formats the members that few log lines have. They are about refusals, retries, streams and slow exchanges.

import {
  type LogFieldsOf,
  RARE_LOG_FIELDS,
  type RareFieldName,
  type RareNotes,
  SLOW_MS,
  type TextOf,
} from '../../catalogue/log-fields.ts';
import type { Trail } from '../../exchange/trail.ts';
import { STAGE_SPANS } from '../../stages.ts';
import { members, milliseconds } from './line-text.ts';

/** The largest number of scopes of a caller that the line names. */
const SCOPES_MAX = 64;

const SPAN_NAMES = STAGE_SPANS.map(({ stage }) => stage);

type ValueOfField = (rare: RareNotes, trail: Trail) => unknown;

/** Members whose value is not simply the note in their row. A member with the value undefined is left out of the line. */
const COMPUTED_FIELDS: { readonly [Name in RareFieldName]?: ValueOfField } = {
  code: (_, { code }) => code,
  attempts: ({ retries }, { attempts }) => retries && attempts,
  withheld: withheldIn,
  cause: causeIn,
};

const RARE_FIELDS = RARE_LOG_FIELDS.map(([name, note]) => {
  const of: ValueOfField = COMPUTED_FIELDS[name] ?? ((rare) => rare[note]);
  return { key: `,"${name}":`, of };
});

const NO_NOTES: RareNotes = {};

export function rarePart(trail: Trail, durationMs: number): string {
  const { rare, code, queuedMs } = trail;
  let text = rare === undefined && code === undefined ? '' : notesPart(rare ?? NO_NOTES, trail);
  if (code !== undefined) text += refusalPart(trail);
  if (code !== undefined || durationMs >= SLOW_MS) text += stagesPart(trail, durationMs);
  return queuedMs === undefined ? text : text + queuedPart(queuedMs);
}

function notesPart(rare: RareNotes, trail: Trail): string {
  let text = '';
  for (const { key, of } of RARE_FIELDS) {
    const value = of(rare, trail);
    if (value !== undefined) text += key + JSON.stringify(value);
  }
  return text;
}

function queuedPart(queuedMs: number): TextOf<'queued'> {
  return `,"queued_ms":${milliseconds(queuedMs)}` as const;
}

/** Returns the text with the duration of each span of stages; empty if the exchange ended before the end of `authenticate`. */
function stagesPart(trail: Trail, durationMs: number): TextOf<'stages'> | '' {
  const { startedAt, endedAt } = trail;
  if (!(Number(endedAt[0]) > 0)) return '';
  const reached = [startedAt, ...endedAt, forwardBeganAt(trail, durationMs)];
  let spans = '';
  for (let index = 0; index < SPAN_NAMES.length; index += 1) {
    const from = reached[index] as number;
    if (Number.isNaN(from)) continue;
    // The remaining time belongs to the stage in which the exchange ended.
    const to = reached[index + 1] || startedAt + durationMs;
    spans += `${spans === '' ? '' : ','}"${SPAN_NAMES[index]}":${milliseconds(to - from)}`;
  }
  return `,"stages_ms":{${spans}}` as const;
}

/**
 * Returns when the stage `forward` began; NaN if it was not reached, or if the time is not known. The wait for a place of the upstream
 * belongs to the stage, whether or not the request got the place.
 */
function forwardBeganAt({ startedAt, forwardedAt, queuedMs }: Trail, durationMs: number): number {
  if (queuedMs === undefined) return forwardedAt ?? Number.NaN;
  return (forwardedAt ?? startedAt + durationMs) - queuedMs;
}

/** Returns the query parameters and headers that the gateway withheld from the upstream or from the client. */
function withheldIn({ droppedQuery, notSent, withheld }: RareNotes): readonly string[] | undefined {
  if (droppedQuery !== undefined)
    return [...droppedQuery.map((name) => `query: ${name}`), ...(notSent ?? []), ...(withheld ?? [])];
  return notSent && withheld ? [...notSent, ...withheld] : (notSent ?? withheld);
}

/** Returns the cause for the line. Only bugs have a stack, because the code identifies all other errors. */
function causeIn({ cause }: RareNotes, { code }: Trail): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  if (code === 'internal_error') return cause.stack;
  const systemCode = (cause as NodeJS.ErrnoException).code;
  return systemCode === undefined ? cause.message : `${systemCode}: ${cause.message}`;
}

/** Makes the part about a refusal, which explains the refusal and contains no text from the client. */
function refusalPart({ refusal, violations, caller }: Trail): string {
  if (refusal === undefined) return '';
  const { fields, hint, path, retryAfterSeconds, refusedByUpstream } = refusal.details;
  // The details of an upstream's own error are not logged.
  const own = refusedByUpstream ? undefined : fields;
  const lacksScope = refusal.code === 'insufficient_scope' && caller !== undefined;
  return members<LogFieldsOf<'refusal'>>({
    required_scopes: own?.required_scopes,
    violated_policies: own?.violated_policies,
    max_bytes: own?.max_bytes,
    held_scopes: lacksScope ? [...caller.scopes].slice(0, SCOPES_MAX) : undefined,
    path,
    hint,
    retry_after: retryAfterSeconds ?? refusal.entry.retryAfterSeconds,
    violations,
  });
}
