// The members of a log line that most exchanges lack: of refusals, retries, streams, and slow exchanges.

import { type StageName, TIMED_STAGES } from '../exchange.ts';
import type { Trail } from '../trail.ts';
import { members, milliseconds } from './line-text.ts';
import { refusalPart } from './refusal.ts';

/** From this duration on, a line contains the duration of each stage. */
const SLOW_MS = 250;

/** The time of `replay` starts when the last timed stage has ended. A stage before it that can wait must be timed, or its time is that of `replay`. */
const timedNames = [...Object.keys(TIMED_STAGES), 'replay', 'forward'] as StageName[];

/** Members that most exchanges lack. */
export function rarePart(trail: Trail, durationMs: number): string {
  const { tunnel, code, clientRequestId, shadowRefusals, replayed, recorded, retries, answerViolations, cause } = trail;
  const withheld = withheldIn(trail);
  const { stream, streamEnd } = trail;
  const queued = trail.queuedMs === undefined ? '' : `,"queued_ms":${milliseconds(trail.queuedMs)}`;
  const isSlow = durationMs >= SLOW_MS;
  const isRare =
    tunnel ||
    clientRequestId ||
    shadowRefusals ||
    replayed ||
    recorded ||
    retries ||
    answerViolations ||
    cause ||
    stream ||
    withheld ||
    trail.compressed;
  if (!(isRare || isSlow || code)) return queued;
  const stages = isSlow || code !== undefined ? stagesPart(trail, durationMs) : '';
  // Most refusals have none of the further members.
  if (code !== undefined && !isRare) return members({ code }) + refusalPart(trail) + stages + queued;
  const rare = members({
    tunnel,
    stream,
    stream_end: streamEnd,
    code,
    client_request_id: clientRequestId,
    shadow_refused: shadowRefusals,
    replayed: replayed || undefined,
    recorded: recorded || undefined,
    outcome_unknown: trail.outcomeUnknown || undefined,
    attempts: retries && trail.attempts,
    retries,
    retry_budget_spent: trail.retryBudgetSpent || undefined,
    answer_violations: answerViolations,
    withheld,
    compressed: trail.compressed,
    cause: causeOf(code, cause),
  });
  return rare + refusalPart(trail) + stages + queued;
}

/** What did not cross, in both directions. */
function withheldIn({ droppedQuery, notSent, withheld }: Trail): readonly string[] | undefined {
  if (droppedQuery !== undefined)
    return [...droppedQuery.map((name) => `query: ${name}`), ...(notSent ?? []), ...(withheld ?? [])];
  return notSent && withheld ? [...notSent, ...withheld] : (notSent ?? withheld);
}

/** Returns the duration of each stage that may wait. The stages before `authenticate` never wait and are included in it. */
function stagesPart({ startedAt, endedAt, forwardedAt = Number.NaN }: Trail, durationMs: number): string {
  if (!(Number(endedAt[0]) > 0)) return '';
  const reached = [startedAt, ...endedAt, forwardedAt];
  let spans = '';
  for (let index = 0; index < timedNames.length; index += 1) {
    const from = reached[index] as number;
    if (Number.isNaN(from)) continue;
    // The remaining time belongs to the stage in which the exchange ended.
    const to = reached[index + 1] || startedAt + durationMs;
    spans += `${spans === '' ? '' : ','}"${timedNames[index]}":${milliseconds(to - from)}`;
  }
  return `,"stages_ms":{${spans}}`;
}

/** Logs the stack only for bugs; the code identifies all other errors. */
function causeOf(code: string | undefined, cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  if (code === 'internal_error') return cause.stack;
  const systemCode = (cause as NodeJS.ErrnoException).code;
  return systemCode === undefined ? cause.message : `${systemCode}: ${cause.message}`;
}
