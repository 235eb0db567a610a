// Pure: writes a recorded change in the words of readers. The record says `query parameter "limit": maximum goes from 100 to 50`, because
// the comparison has a place for each finding. The page says `limit`, query parameter, and its values before and after.

import { shorten } from '../html.ts';
import { patternWords } from '../pattern-words.ts';

/** Longer values are folded. */
const TEXT_MAX = 80;

interface Subject {
  /** A parameter, a header, or the path of a field; undefined if the change concerns a whole operation, body or response. */
  readonly name: string | undefined;
  readonly kind: string;
}

/** A property of a value, such as `length`, `type` or `pattern`, before and after. */
export interface ChangedValue {
  readonly label: string;
  /** The former value in words. */
  readonly before: string;
  readonly after: string;
  /** The exact old and new texts of patterns and long values, if words do not say everything. */
  readonly exact?: readonly string[];
}

export interface ChangeWords extends Subject {
  /** Empty if the value says it all. */
  readonly what: string;
  readonly value: ChangedValue | undefined;
}

const PARAMETER = /^(path|query|header|cookie) parameter "(.*)"$/s;
const RESPONSE_HEADER = /^answer (\S+), header (.+)$/s;
/** A header that a webhook sends. */
const SENT_HEADER = /^header (\S+)$/;
/** A body with a media type, and the path of a field in it. */
const BODY = /^(request body|payload|answer (\S+))(?: ([^/ ]+\/[^/ ]+)(?:\/(.+))?)?$/s;

/** Returns the words for a change. @param text the text of a `PublishedChange` */
export function changeWords(text: string): ChangeWords {
  const [, place = '', what = text] = /^([^:]{1,200}): (.+)$/s.exec(text) ?? [];
  const subject = subjectOf(place);
  const short = shortWords(what);
  if (short !== undefined) return { ...subject, kind: subject.kind || ofWhole(what), what: short, value: undefined };
  return { ...subject, ...keywordWords(what) };
}

function ofWhole(what: string): string {
  return what.startsWith('the webhook ') ? 'webhook' : 'operation';
}

function subjectOf(place: string): Subject {
  const [, where, parameter] = PARAMETER.exec(place) ?? [];
  if (where !== undefined) return { name: parameter, kind: `${where} parameter` };
  const [, headerStatus, header] = RESPONSE_HEADER.exec(place) ?? [];
  if (headerStatus !== undefined) return { name: header, kind: `header of response ${headerStatus}` };
  const [, sentHeader] = SENT_HEADER.exec(place) ?? [];
  if (sentHeader !== undefined) return { name: sentHeader, kind: 'header' };
  const [, body, status, type, path] = BODY.exec(place) ?? [];
  if (body === undefined) return { name: undefined, kind: place };
  const owner = status === undefined ? body : `response ${status}`;
  const name = path
    ?.replace(/\/(anyOf|oneOf)$/, '')
    .replaceAll('/[]', '[]')
    .replaceAll('/', '.');
  if (name === undefined) {
    const isUsual = type === undefined || type === 'application/json';
    return { name, kind: isUsual ? owner : `${owner} as ${type}` };
  }
  return { name, kind: `in ${status === undefined ? 'the ' : ''}${owner}` };
}

const ALTERNATIVE = /^the (?:alternative|value) (.+) (is new|was removed|is no longer possible)$/s;

/** Returns the change in a few words; undefined if it needs a value before and after. */
function shortWords(what: string): string | undefined {
  const [, now] = /^(?:it|the property) is (required|optional) now$/.exec(what) ?? [];
  if (now !== undefined) return `now ${now}`;
  const [, value, fate] = ALTERNATIVE.exec(what) ?? [];
  if (value !== undefined) return fate === 'is new' ? `may also be ${value} now` : `can no longer be ${value}`;
  const [, did] =
    /^(?:it|the property|this media type|the operation|the webhook) (is new|is new and required|was removed)$/.exec(
      what,
    ) ?? [];
  return did && { 'is new': 'added', 'is new and required': 'added, required', 'was removed': 'removed' }[did];
}

/** The words for an open end of a range. */
export const NO_LIMIT = 'no limit';

const BOUNDS: Readonly<Record<string, readonly [label: string, phrase: string, unit: string]>> = {
  minimum: ['value', 'at least', ''],
  exclusiveMinimum: ['value', 'more than', ''],
  maximum: ['value', 'at most', ''],
  exclusiveMaximum: ['value', 'less than', ''],
  multipleOf: ['value', 'a multiple of', ''],
  minLength: ['length', 'at least', 'character'],
  maxLength: ['length', 'at most', 'character'],
  minItems: ['items', 'at least', 'item'],
  maxItems: ['items', 'at most', 'item'],
  minProperties: ['fields', 'at least', 'field'],
  maxProperties: ['fields', 'at most', 'field'],
};

/** Returns the words for a credential, which the comparison names by type and scheme. */
function credentialWords(what: string): string {
  return what.replace(/^http (bearer|basic)/, 'HTTP $1');
}

/** Returns the words for a keyword of a schema whose value has changed. */
function keywordWords(what: string): { what: string; value: ChangedValue | undefined } {
  const [, keyword = '', from = '', to = ''] = /^(?:the )?(\w+) goes from (.+) to (.+)$/s.exec(what) ?? [];
  const bound = Object.hasOwn(BOUNDS, keyword) ? BOUNDS[keyword] : undefined;
  if (bound !== undefined) return { what: '', value: boundValue(bound, from, to) };
  if (keyword === 'pattern') return { what: '', value: patternValue(from, to) };
  if (/^(type|format)$/.test(keyword)) return { what: '', value: changedValue(keyword, 'any', from, to) };
  if (/^(default|operationId)$/.test(keyword)) return { what: '', value: changedValue(keyword, 'none', from, to) };
  return { what: keyword === '' ? credentialWords(what) : ruleWords(keyword, from, to), value: undefined };
}

function changedValue(label: string, nothing: string, from: string, to: string): ChangedValue {
  const valueText = (value: string) => (value === 'none' ? nothing : shorten(value, TEXT_MAX));
  const isLong = Math.max(from.length, to.length) > TEXT_MAX;
  return { label, before: valueText(from), after: valueText(to), ...(isLong && { exact: exactOf(from, to) }) };
}

/**
 * Returns the words for a pattern, or the regular expression if words do not suffice. An expression that is not shown whole is folded,
 * because few readers understand an expression at a glance.
 */
function patternValue(from: string, to: string): ChangedValue {
  const all = [from, to].map((one) => {
    if (one === 'none') return { told: 'any text', isWhole: true };
    const words = patternWords(one);
    return {
      told: words ?? `matching ${shorten(one, TEXT_MAX)}`,
      isWhole: words === undefined && one.length <= TEXT_MAX,
    };
  });
  const [before = '', after = ''] = all.map(({ told }) => told);
  return { label: 'form', before, after, ...(!all.every(({ isWhole }) => isWhole) && { exact: exactOf(from, to) }) };
}

function exactOf(...values: readonly string[]): string[] {
  return values.filter((one) => one !== 'none');
}

function boundValue([label, phrase, unit]: readonly [string, string, string], from: string, to: string): ChangedValue {
  const valueText = (value: string) =>
    value === 'none' ? NO_LIMIT : `${phrase} ${value}${unit && ` ${unit}${value === '1' ? '' : 's'}`}`;
  return { label, before: valueText(from), after: valueText(to) };
}

const DEPENDENT_FIELDS = {
  added: 'which fields it must have now depends on the values of others',
  changed: 'which fields it must have depends on other values than before',
  dropped: 'which fields it must have no longer depends on the values of others',
};

/** Returns the words for conditions and exclusions. These are schemas, which a line cannot show. */
function ruleWords(keyword: string, from: string, to: string): string {
  const fate = from === 'none' ? 'added' : to === 'none' ? 'dropped' : 'changed';
  if (/^(if|then|else)$/.test(keyword)) return DEPENDENT_FIELDS[fate];
  if (keyword !== 'not') return `the rule ${keyword} was ${fate}`;
  return {
    added: 'some values are excluded now',
    dropped: 'no value is excluded any more',
    changed: 'other values are excluded now',
  }[fate];
}
