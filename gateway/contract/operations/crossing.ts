// Finds the headers and cookies of an operation that cross between client and upstream, in addition to the headers that always cross. Runs
// once for each configuration.

import type { CookieRules, Operation } from '../../exchange/operation.ts';
import { isRecord, type JsonObject, type LocatedValue, member, memberNames, objectAt } from '../pointer.ts';

/** The settings of an upstreams.yaml entry that let headers and cookies cross. */
export interface CrossingDefaults {
  readonly requestHeaders?: readonly string[] | undefined;
  readonly responseHeaders?: readonly string[] | undefined;
  readonly cookies?: readonly string[] | undefined;
  /** Whether tokens of callers are forwarded. */
  readonly authorization?: 'withhold' | 'forward' | undefined;
  /** The rules for answers, which need the whole answer. */
  readonly answers?: readonly unknown[] | undefined;
}

/** The members of an operation that this file makes. */
type Crossing = Pick<
  Operation,
  'ranges' | 'forwardsToken' | 'requestHeaders' | 'responseHeaders' | 'externalReferences' | 'cookies'
>;

interface CrossingSource {
  readonly root: JsonObject;
  readonly method: string;
  readonly located: LocatedValue;
  readonly parameters: readonly LocatedValue[];
  readonly answerCheck: Operation['answerCheck'];
  /** The defaults of the entry that lists the contract; undefined if the operation belongs to another upstream. */
  readonly entry: CrossingDefaults | undefined;
}

/** Serializes the settings, to compare entries. */
export function crossingTextOf(defaults: CrossingDefaults): string {
  const { requestHeaders, responseHeaders, cookies, authorization, answers } = defaults;
  return JSON.stringify([requestHeaders, responseHeaders, cookies, authorization, hasRules(answers)]);
}

export function crossingOf(source: CrossingSource): Crossing {
  const { root, method, located, parameters, answerCheck, entry } = source;
  const further = entry?.responseHeaders ?? [];
  const declared = parameters.flatMap((parameter) => nameIn(parameter, 'header')?.toLowerCase() ?? []);
  return {
    // A part of an answer can neither be checked against the contract nor judged by rules that hide members.
    ranges: method === 'get' && answerCheck !== 'refuse' && entry !== undefined && !hasRules(entry.answers),
    // False if the operation belongs to another upstream than its entry, because nothing says that the service there checks tokens.
    forwardsToken: entry?.authorization === 'forward',
    requestHeaders: Object.freeze([...new Set([...declared, ...(entry?.requestHeaders ?? [])])]),
    responseHeaders: new Set([...declaredHeaders(root, located), ...further]),
    externalReferences: new Set(further.filter((name) => REFERENCE_HEADERS.has(name))),
    cookies: cookiesOf(parameters, entry?.cookies ?? []),
  };
}

const REFERENCE_HEADERS = new Set(['location', 'link', 'content-location']);

function hasRules(answers: readonly unknown[] | undefined): boolean {
  return answers !== undefined && answers.length > 0;
}

function cookiesOf(parameters: readonly LocatedValue[], listed: readonly string[]): CookieRules | undefined {
  const withheld = parameters
    .flatMap((parameter) => nameIn(parameter, 'cookie') ?? [])
    .filter((name) => !listed.includes(name));
  if (listed.length === 0 && withheld.length === 0) return undefined;
  return Object.freeze({ names: new Set(listed), withheld: Object.freeze(withheld) });
}

function nameIn({ value }: LocatedValue, place: 'header' | 'cookie'): string | undefined {
  return isRecord(value) && value.in === place ? String(value.name) : undefined;
}

/** Returns the names, in lower case, of the headers that the contract declares for answers of the operation. */
export function declaredHeaders(root: JsonObject, operation: LocatedValue): string[] {
  const responses = member(root, operation, 'responses');
  const names = memberNames(responses).flatMap((status) =>
    Object.keys(objectAt(member(root, responses, status).value, 'headers')),
  );
  return names.map((name) => name.toLowerCase());
}
