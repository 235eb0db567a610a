// The answers that a contract declares for an operation, with their media types and examples.

import type { ContractOperation } from '../operations/operations.ts';
import { child, isObject, type JsonObject, type Located, member, memberNames } from '../pointer.ts';
import { responseFor } from '../schemas/schemas.ts';

/** One declared answer with a status that it stands for. */
export interface DeclaredAnswer {
  readonly entry: ContractOperation;
  readonly status: number;
  /** The response object. */
  readonly response: Located;
  /** Whether the contract declares this very status, not a range or `default`. */
  readonly isExact: boolean;
}

export interface WrittenExample {
  /** Undefined for the single `example` of a media type. */
  readonly name: string | undefined;
  readonly value: unknown;
  /** Its place below the media type, for messages. */
  readonly place: readonly string[];
}

/** Undefined if the contract declares no answer for this status. */
export function declaredAnswer(entry: ContractOperation, status: number): DeclaredAnswer | undefined {
  const response = responseFor(entry, status);
  if (!isObject(response.value) || status < 200 || status > 599) return undefined;
  return { entry, status, response, isExact: declaredNames(entry).includes(String(status)) };
}

/** `200`, `4XX` and `default`, as the contract spells them. */
function declaredNames(entry: ContractOperation): string[] {
  const responses = member(entry.document.root, entry.located, 'responses');
  return memberNames(responses).filter((name) => /^([2-5](\d\d|XX)|default)$/.test(name));
}

/** The answer to a request that asks for no other: the lowest status of success, else the lowest status. */
export function usualAnswer(entry: ContractOperation): DeclaredAnswer | undefined {
  const [lowest] = statusesOf(entry).sort((one, other) => one - other);
  return lowest === undefined ? undefined : declaredAnswer(entry, lowest);
}

/** One status for each declared answer. `default` stands for the success that no other answer declares, else for a failure. */
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

/** The media types as written, with their media type objects. */
export function contentOf({ entry, response }: DeclaredAnswer): ReadonlyMap<string, Located> {
  const { root } = entry.document;
  const content = member(root, response, 'content');
  return new Map(memberNames(content).map((type) => [type, member(root, content, type)]));
}

/**
 * The examples of a media type. A range of statuses may have one for each status: examples that name another status in their member
 * `status` or `error.status` are left out, and those that name this one come first.
 */
export function examplesFor(answer: DeclaredAnswer, mediaType: Located): WrittenExample[] {
  const all = writtenExamples(answer.entry.document.root, mediaType);
  if (answer.isExact) return all;
  const own = all.filter(({ value }) => statusIn(value) === answer.status);
  return [...own, ...all.filter(({ value }) => statusIn(value) === undefined)];
}

export function writtenExamples(root: JsonObject, mediaType: Located): WrittenExample[] {
  const { value } = mediaType;
  if (!isObject(value)) return [];
  const several = member(root, mediaType, 'examples');
  const named = memberNames(several).flatMap((name) => {
    const example = member(root, several, name).value;
    const written = isObject(example) ? (example.value ?? example.dataValue) : undefined;
    return written === undefined ? [] : [{ name, value: plain(written), place: ['examples', name] }];
  });
  if (value.example === undefined) return named;
  return [{ name: undefined, value: plain(value.example), place: ['example'] }, ...named];
}

/** The status that an error body names itself. */
export function statusIn(value: unknown): number | undefined {
  if (!isObject(value)) return undefined;
  const { status } = isObject(value.error) ? value.error : value;
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined;
}

export function answerSchema(mediaType: Located): Located | undefined {
  const schema = child(mediaType, 'schema');
  if (schema.value !== undefined) return schema;
  const items = child(mediaType, 'itemSchema');
  return items.value === undefined ? undefined : items;
}

/** Converts a value of YAML, which may contain dates, to a value of JSON. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
