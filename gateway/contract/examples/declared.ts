// The answers that a contract declares for an operation, with their media types and examples.

import type { ContractOperation } from '../operations/operations.ts';
import { child, isRecord, type JsonObject, type LocatedValue, member, memberNames } from '../pointer.ts';
import { responseFor } from '../schemas/schemas.ts';

/** One declared answer with a status that it stands for. */
export interface DeclaredAnswer {
  readonly entry: ContractOperation;
  readonly status: number;
  /** The response object. */
  readonly response: LocatedValue;
  /** Whether the contract declares this very status, not a range or `default`. */
  readonly isExact: boolean;
}

export interface WrittenExample {
  /** The name; undefined for the single `example` of a media type. */
  readonly name: string | undefined;
  readonly value: unknown;
  /** Its place below the media type, for messages. */
  readonly place: readonly string[];
}

/** Returns the declared answer for a status; undefined if there is none. */
export function declaredAnswer(entry: ContractOperation, status: number): DeclaredAnswer | undefined {
  const response = responseFor(entry, status);
  if (!isRecord(response.value) || status < 200 || status > 599) return undefined;
  return { entry, status, response, isExact: declaredNames(entry).includes(String(status)) };
}

/** Returns the names of the declared answers, such as `200`, `4XX` and `default`. */
function declaredNames(entry: ContractOperation): string[] {
  const responses = member(entry.document.root, entry.located, 'responses');
  return memberNames(responses).filter((name) => /^([2-5](\d\d|XX)|default)$/.test(name));
}

/** Returns the usual answer, which has the lowest status of success, or otherwise the lowest status. */
export function usualAnswer(entry: ContractOperation): DeclaredAnswer | undefined {
  const [lowest] = statusesOf(entry).sort((one, other) => one - other);
  return lowest === undefined ? undefined : declaredAnswer(entry, lowest);
}

/**
 * Returns one status for each declared answer. `default` is treated as the success if no other answer is a success, otherwise as a failure.
 */
export function statusesOf(entry: ContractOperation): number[] {
  const names = declaredNames(entry);
  const hasSuccess = names.some((name) => name.startsWith('2'));
  return names.map((name) => {
    if (name === 'default') return hasSuccess ? unnamedFailure(names) : 200;
    return Number(name.replace('XX', '00'));
  });
}

function unnamedFailure(names: readonly string[]): number {
  return (
    [400, 500, 404, 409].find(
      (status) => !names.includes(String(status)) && !names.includes(`${String(status)[0]}XX`),
    ) ?? 418
  );
}

/** Returns the media types, in their own spelling, with their media type objects. */
export function contentOf({ entry, response }: DeclaredAnswer): ReadonlyMap<string, LocatedValue> {
  const { root } = entry.document;
  const content = member(root, response, 'content');
  return new Map(memberNames(content).map((type) => [type, member(root, content, type)]));
}

/**
 * Returns the examples of a media type. A range of statuses may have an example for each status. Therefore examples that name another
 * status in their member `status` or `error.status` are left out, and examples that name this status come first.
 */
export function examplesFor(answer: DeclaredAnswer, mediaType: LocatedValue): WrittenExample[] {
  const all = writtenExamples(answer.entry.document.root, mediaType);
  if (answer.isExact) return all;
  const own = all.filter(({ value }) => statusIn(value) === answer.status);
  return [...own, ...all.filter(({ value }) => statusIn(value) === undefined)];
}

export function writtenExamples(root: JsonObject, mediaType: LocatedValue): WrittenExample[] {
  const { value } = mediaType;
  if (!isRecord(value)) return [];
  const several = member(root, mediaType, 'examples');
  const named = memberNames(several).flatMap((name) => {
    const example = member(root, several, name).value;
    const written = isRecord(example) ? (example.value ?? example.dataValue) : undefined;
    return written === undefined ? [] : [{ name, value: plain(written), place: ['examples', name] }];
  });
  if (value.example === undefined) return named;
  return [{ name: undefined, value: plain(value.example), place: ['example'] }, ...named];
}

/** Returns the status that an error body contains. */
export function statusIn(value: unknown): number | undefined {
  if (!isRecord(value)) return undefined;
  const { status } = isRecord(value.error) ? value.error : value;
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined;
}

export function answerSchema(mediaType: LocatedValue): LocatedValue | undefined {
  const schema = child(mediaType, 'schema');
  if (schema.value !== undefined) return schema;
  const items = child(mediaType, 'itemSchema');
  return items.value === undefined ? undefined : items;
}

/** Converts a value of YAML, which may contain dates, to a value of JSON. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
