// The findings of a comparison, the rule that decides whether a change breaks clients, and the functions that report findings.

import type { Path } from '../../shared/yaml-source.ts';
import { type LocatedValue, pathOf } from '../pointer.ts';

/** `request`: data that clients send; `response`: data that clients receive. */
export type Side = 'request' | 'response';
export type Level = 'breaking' | 'additive';
/** The change of the set of possible values at a place. */
export type Effect = 'narrowed' | 'widened' | 'changed';

export interface DiffFinding {
  readonly rule: string;
  readonly level: Level;
  /** Method and path (`GET /v1/jobs`) as the newer contract writes them, or as the older contract does if the operation was removed. */
  readonly operation: string;
  readonly operationId: string;
  /** The document that contains `place`, which is the older document if the newer has no such place. */
  readonly side: 'old' | 'new';
  readonly file: string;
  readonly place: Path;
  /** The place in the operation, which may refer to `place`. */
  readonly use: Path;
  readonly what: string;
  /** The place in the operation, in words, and the change. */
  readonly reason: string;
}

/** The current place of a comparison: its path in the newer document, its path in the operation, and a description. */
export interface DiffPlace {
  readonly place: Path;
  readonly use: Path;
  readonly where: string;
}

/** Reports one finding. */
export type ReportFinding = (rule: string, level: Level, at: DiffPlace, what: string) => void;

export function below({ place, use, where }: DiffPlace, step: Path, words = ''): DiffPlace {
  return { place: [...place, ...step], use: [...use, ...step], where: where + words };
}

/** Returns the place of a value to which a reference may have led. Of parts that were joined, the first is its place. */
export function atTarget(at: DiffPlace, { pointer }: LocatedValue): DiffPlace {
  return pointer.startsWith('/') ? { ...at, place: pathOf(pointer.split('&')[0] as string) } : at;
}

/**
 * Returns the level of a change. Requests may be widened, because every accepted value must stay accepted. Answers may be narrowed, because
 * every value that is sent must have been possible before.
 */
export function levelOf(side: Side, effect: Effect): Level {
  if (effect === 'changed') return 'breaking';
  return (side === 'request') === (effect === 'narrowed') ? 'breaking' : 'additive';
}

/** Formats a value for a sentence, at most 60 characters of JSON. */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** A comparison of two schemas in progress, as the comparison of a keyword uses it. */
export interface Walk {
  readonly side: Side;
  readonly tell: ReportFinding;
  schemas(old: LocatedValue, fresh: LocatedValue, at: DiffPlace): void;
  /** Returns whether `fresh` can replace `old` without a breaking change. */
  fits(old: LocatedValue, fresh: LocatedValue): boolean;
}
