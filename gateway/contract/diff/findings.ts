// What a comparison of two contracts finds, and when a change of what is accepted or answered breaks clients.

import type { Path } from '../../source.ts';

/** `request`: what clients send; `response`: what they are answered. */
export type Side = 'request' | 'response';
export type Level = 'breaking' | 'additive';
/** What became of the values that are possible at a place. */
export type Effect = 'narrowed' | 'widened' | 'changed';

export interface DiffFinding {
  readonly rule: string;
  readonly level: Level;
  /** `GET /v1/jobs`, as the newer contract writes it if it still has it. */
  readonly operation: string;
  readonly operationId: string;
  /** In which of the two documents `place` is: in the older one if the newer has nothing of the kind. */
  readonly side: 'old' | 'new';
  readonly file: string;
  readonly place: Path;
  /** Where in the operation, in words, and what has changed. */
  readonly reason: string;
}

/** Where a comparison is: the place in the newer document, and the same in words. */
export interface At {
  readonly place: Path;
  readonly where: string;
}

export function below({ place, where }: At, step: Path, words: string): At {
  return { place: [...place, ...step], where: where + words };
}

/**
 * Requests may be widened: whatever was accepted must stay accepted. Answers may be narrowed: whatever comes must have been possible
 * before.
 */
export function levelOf(side: Side, effect: Effect): Level {
  if (effect === 'changed') return 'breaking';
  return (side === 'request') === (effect === 'narrowed') ? 'breaking' : 'additive';
}

/** How values stand in sentences. */
export function shownFinding(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
