// Pure: one line of the access log → the request it records, as far as limits look at it. The other end of `observe/line.ts`.

import { PUBLISHED_NAMES, STAGES } from '../exchange.ts';

/** A request that got as far as the limits, whatever became of it there. */
export interface Recorded {
  /** When its limits were decided: the store's clock, epoch milliseconds. */
  readonly atMs: number;
  /** When its line was written, which is what a log is ordered by. */
  readonly writtenAtMs: number;
  /** Absent on public operations only. */
  readonly organization: string | undefined;
  readonly tier: string | undefined;
  /** Key id or subject of a token. */
  readonly subject: string;
  readonly issuer: string | undefined;
  readonly operation: string;
  readonly client: string;
  /** Whether it was refused for its limits when it was recorded. */
  readonly refused: boolean;
}

/** Why a line records no such request: it is none of the gateway's, it is about something else, or the request ended before the limits. */
export type Unused = 'unreadable' | 'other' | 'before_limits';

/** The stages that a request can only end in if it has been counted. */
const COUNTED_STAGES: ReadonlySet<unknown> = new Set(
  STAGES.slice(STAGES.indexOf('limit')).map((stage) => PUBLISHED_NAMES[stage]),
);

export function parseRecorded(line: string): Recorded | Unused {
  const entry = parseObject(line);
  if (entry === undefined || typeof entry.msg !== 'string') return 'unreadable';
  if (entry.msg !== 'exchange') return 'other';
  if (!COUNTED_STAGES.has(entry.stage)) return 'before_limits';
  return toRecorded(entry) ?? 'unreadable';
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function toRecorded(entry: Record<string, unknown>): Recorded | undefined {
  const { time, duration_ms: durationMs, decided_at: decidedAtMs, organization, tier, token_issuer: issuer } = entry;
  const { operation, client = '', stage, code } = entry;
  const subject = issuer === undefined ? (entry.key_id ?? entry.subject) : entry.subject;
  if (!isTime(time) || typeof durationMs !== 'number') return undefined;
  // Under rules that did not count it nobody decided, and it had arrived at most some milliseconds before the limits.
  const atMs = decidedAtMs ?? Math.round(time - durationMs);
  if (!isTime(atMs) || !isText(operation) || !isText(subject) || !isText(client)) return undefined;
  if (!isTextOrAbsent(issuer) || !isTextOrAbsent(organization) || !isTextOrAbsent(tier)) return undefined;
  if ((organization === undefined) !== (tier === undefined)) return undefined;
  // An upstream may have a code of the same name.
  const refused = stage === 'limit' && code === 'rate_limited';
  return { atMs, writtenAtMs: time, organization, tier, subject, issuer, operation, client, refused };
}

/** What a Date can hold, so that it can be printed. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 8.64e15;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
