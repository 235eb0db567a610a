// The members of a log line that most exchanges lack: of refusals, retries, streams, and slow exchanges.

import { type RareNotes, type StageName, TIMED_STAGES } from '../exchange.ts';
import type { Trail } from '../trail.ts';
import { members, milliseconds } from './line-text.ts';
import { RARE_LOG_FIELDS, type TextOf } from './log-fields.ts';
import { refusalPart } from './refusal.ts';

/** From this duration on, a line contains the duration of each stage. */
const SLOW_MS = 250;

/** The time of `replay` starts when the last timed stage has ended. A stage before it that can wait must be timed, or its time is that of `replay`. */
const timedNames = [...Object.keys(TIMED_STAGES), 'replay', 'forward'] as StageName[];

const fields = RARE_LOG_FIELDS.map(([name, of]) => ({ key: `,"${name}":`, of }));

/** Members that most exchanges lack. */
export function rarePart(trail: Trail, durationMs: number): string {
  const { rare, code, queuedMs } = trail;
  let text = rare === undefined ? '' : notesPart(rare, trail);
  if (code !== undefined) text += (rare === undefined ? members({ code }) : '') + refusalPart(trail);
  if (code !== undefined || durationMs >= SLOW_MS) text += stagesPart(trail, durationMs);
  return queuedMs === undefined ? text : text + queuedPart(queuedMs);
}

function notesPart(rare: RareNotes, trail: Trail): string {
  let text = '';
  for (const { key, of } of fields) {
    const value = of(rare, trail);
    if (value !== undefined) text += key + JSON.stringify(value);
  }
  return text;
}

function queuedPart(queuedMs: number): TextOf<'queued'> {
  return `,"queued_ms":${milliseconds(queuedMs)}` as const;
}

/** Returns the duration of each stage that may wait. The stages before `authenticate` never wait and are included in it. */
function stagesPart(
  { startedAt, endedAt, forwardedAt = Number.NaN }: Trail,
  durationMs: number,
): TextOf<'stages'> | '' {
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
  return `,"stages_ms":{${spans}}` as const;
}
