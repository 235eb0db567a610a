// Converts what scripts return to sessions.

import { readFixedPart } from '../record.ts';
import type { Session } from '../session-store.ts';

/** The columns in the order of `row_of`. */
export type SessionRow = readonly string[];

/** Throws if a column is damaged. The request then gets the error of an outage, and not the error of a missing session. */
export function toSession(row: SessionRow): Session {
  const [
    id = '',
    fixed = '',
    created,
    ends,
    idle,
    used,
    access,
    lives,
    refreshable,
    generation,
    tokens = '',
    hash = '',
  ] = row;
  return {
    id,
    hash,
    ...readFixedPart(fixed),
    createdAtMs: numberIn(created),
    endsAtMs: numberIn(ends),
    idleMs: numberIn(idle),
    usedAtMs: numberIn(used),
    accessEndsAtMs: numberIn(access),
    accessLivesMs: numberIn(lives),
    refreshable: refreshable === '1',
    generation: numberIn(generation),
    sealedTokens: tokens,
  };
}

export function sessionIn(reply: unknown): Session | undefined {
  return Array.isArray(reply) ? toSession(reply as SessionRow) : undefined;
}

export function sessionsIn(reply: unknown): Session[] {
  return (reply as readonly SessionRow[]).map(toSession);
}

function numberIn(text: string | undefined): number {
  const value = Number(text);
  if (text === undefined || text === '' || !Number.isFinite(value)) throw new Error('A stored session is damaged.');
  return value;
}
