// Pure: parses one line of the access log into the request that it records, as far as limits need it. The counterpart is
// `observe/log/line.ts`.

import { STAGES } from '../../../stages.ts';

/** A request that reached the limit stage, whatever its outcome. */
export interface LoggedRequest {
  /** Time of the decision by the store's clock, epoch milliseconds. */
  readonly atMs: number;
  /** Time at which the line was written; the log is ordered by it. */
  readonly writtenAtMs: number;
  /** The organization; undefined for public operations. */
  readonly organization: string | undefined;
  readonly tier: string | undefined;
  /** Key id or token subject. */
  readonly subject: string;
  readonly issuer: string | undefined;
  readonly operation: string;
  readonly client: string;
  /** Whether the limits refused the request when it was recorded. */
  readonly refused: boolean;
}

/** Why a line is skipped: it is not a line of the gateway, it is not about a request, or the request ended before the limits. */
export type SkipReason = 'unreadable' | 'other' | 'before_limits';

/** The stages that a request reaches only after it has been counted. */
const COUNTED_STAGES: ReadonlySet<unknown> = new Set(STAGES.slice(STAGES.indexOf('limit')));

export function parseLoggedRequest(line: string): LoggedRequest | SkipReason {
  const entry = parseObject(line);
  if (entry === undefined || typeof entry.msg !== 'string') return 'unreadable';
  if (entry.msg !== 'exchange') return 'other';
  if (!COUNTED_STAGES.has(entry.stage)) return 'before_limits';
  return toLoggedRequest(entry) ?? 'unreadable';
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function toLoggedRequest(entry: Record<string, unknown>): LoggedRequest | undefined {
  const { time, duration_ms: durationMs, decided_at: decidedAtMs, organization, tier, token_issuer: issuer } = entry;
  const { operation, client = '', stage, code } = entry;
  const subject = issuer === undefined ? (entry.key_id ?? entry.subject) : entry.subject;
  if (!isTime(time) || typeof durationMs !== 'number') return undefined;
  // A request that no limit counted has no time of decision, so the time of its arrival is used, which is at most some milliseconds
  // earlier.
  const atMs = decidedAtMs ?? Math.round(time - durationMs);
  if (!isTime(atMs) || !isText(operation) || !isText(subject) || !isText(client)) return undefined;
  if (!isTextOrAbsent(issuer) || !isTextOrAbsent(organization) || !isTextOrAbsent(tier)) return undefined;
  if ((organization === undefined) !== (tier === undefined)) return undefined;
  // Check the stage, because an upstream may use the same code.
  const refused = stage === 'limit' && code === 'rate_limited';
  return { atMs, writtenAtMs: time, organization, tier, subject, issuer, operation, client, refused };
}

/** Whether the value is in the range of a Date, which is needed to print it. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 8.64e15;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
