// Writes a JSON value as the text of a parameter, in the style that the contract declares (OpenAPI 3.1.1, section 4.8.12). This file is the
// reverse of contract/parameters/parameter.ts and contract/parameters/query.ts. A value that no text can express is refused, because a
// service must not get another value.

import type { ViolationCode } from '../../shared/contracts/violation-codes.ts';
import { isRecord } from '../../shared/is-record.ts';
import type { Parameter } from '../parameters/parameter.ts';
import { writtenPathValue } from '../parameters/path-values.ts';

/** Why a value cannot be written: a code and a message of a violation. */
export interface Unwritable {
  readonly code: ViolationCode;
  readonly message: string;
}

export type WrittenValue = { readonly text: string } | Unwritable;

const NOT_A_TEXT: Unwritable = { code: 'wrong_type', message: 'Must be a text, a number, true or false.' };
const NO_NULL: Unwritable = { code: 'wrong_type', message: 'Must not be null. Leave it out instead.' };
const INEXACT: Unwritable = {
  code: 'wrong_type',
  message: 'Must be sent as a text: a number of this size loses digits.',
};
const EMPTY: Unwritable = { code: 'too_short', message: 'Must have at least 1 character.' };

/** The depth to which queries are read. */
const DEPTH_MAX = 32;
/** Visible ASCII and the spaces between, because other bytes mean different texts to different servers. */
const FIELD = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const COOKIE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

export function isUnwritable(written: WrittenValue): written is Unwritable {
  return 'code' in written;
}

/** Returns the pairs of a query, joined by `&`; empty for an empty list or object, which has no pair. */
export function writtenQuery(parameter: Parameter, value: unknown): WrittenValue {
  const { name, style, exploded, json, separator } = parameter;
  const key = encodeURIComponent(name.toWellFormed());
  if (json) return { text: `${key}=${encodeURIComponent(JSON.stringify(value).toWellFormed())}` };
  if (style === 'deepObject') return joinPairs(pairsBelow(key, value, 0));
  if (Array.isArray(value)) {
    if (separator === undefined) return joinPairs(value.map((item) => pair(key, item)));
    return withKey(key, joinItems(value, separator), true);
  }
  if (isRecord(value)) {
    const members = Object.entries(value);
    if (exploded)
      return joinPairs(members.map(([member, item]) => pair(encodeURIComponent(member.toWellFormed()), item)));
    return withKey(key, joinItems(members.flat(), separator ?? ','), true);
  }
  return pair(key, value);
}

/** Returns the text of a segment or of a part of it. @param takesSlashes whether the parameter takes the rest of the path */
export function writtenPath(parameter: Parameter, value: unknown, takesSlashes: boolean): WrittenValue {
  if (parameter.json) return encodedSegment(JSON.stringify(value), false);
  if (Array.isArray(value) || isRecord(value)) {
    const parts = Array.isArray(value) ? value : Object.entries(value).flat();
    const texts = parts.map(scalarText);
    const wrong = texts.find(isUnwritable);
    if (wrong !== undefined) return wrong;
    if (parts.length === 0) return EMPTY;
    const encoded = Array.isArray(value)
      ? texts.map((one) => encodeURIComponent(textOf(one)))
      : Object.fromEntries(Object.entries(value).map((member) => member.map((one) => encodeURIComponent(String(one)))));
    return { text: writtenPathValue(parameter, encoded) };
  }
  const written = scalarText(value);
  if (isUnwritable(written)) return written;
  if (written.text === '') return EMPTY;
  const encoded = encodedSegment(written.text, takesSlashes);
  return parameter.style === 'simple' ? encoded : { text: writtenPathValue(parameter, encoded.text) };
}

function encodedSegment(text: string, takesSlashes: boolean): { readonly text: string } {
  const formed = text.toWellFormed();
  return { text: takesSlashes ? formed.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(formed) };
}

/** Returns the value of a header field. */
export function writtenHeader(parameter: Parameter, value: unknown): WrittenValue {
  const written = listedText(parameter, value);
  if (isUnwritable(written) || FIELD.test(written.text)) return written;
  return { code: 'wrong_format', message: 'Must be visible ASCII characters, with spaces only between them.' };
}

/** Returns the value of a cookie (RFC 6265, section 4.1.1). */
export function writtenCookie(parameter: Parameter, value: unknown): WrittenValue {
  const written = listedText(parameter, value);
  if (isUnwritable(written) || COOKIE.test(written.text)) return written;
  return {
    code: 'wrong_format',
    message: 'Must not have spaces, quotes, commas, semicolons, backslashes or letters beyond ASCII.',
  };
}

function listedText({ json, exploded }: Parameter, value: unknown): WrittenValue {
  if (json) return { text: JSON.stringify(value) };
  if (Array.isArray(value)) return joinItems(value, ',');
  if (!isRecord(value)) return scalarText(value);
  const members = Object.entries(value);
  if (!exploded) return joinItems(members.flat(), ',');
  const pairs = members.map(([name, item]) => withKey(name, scalarText(item), false));
  return pairs.find(isUnwritable) ?? joinItems(pairs.map(textOf), ',');
}

/** Joins the items to one text. Refuses an item with the separator, which would be read as two items. */
function joinItems(items: readonly unknown[], separator: string): WrittenValue {
  const texts = items.map(scalarText);
  const wrong = texts.find(isUnwritable);
  if (wrong !== undefined) return wrong;
  if (texts.some((one) => textOf(one).includes(separator)))
    return { code: 'wrong_format', message: `Must not have items that contain "${separator}".` };
  return { text: texts.map(textOf).join(separator) };
}

function pairsBelow(key: string, value: unknown, depth: number): WrittenValue[] {
  if (depth > DEPTH_MAX) return [{ code: 'wrong_type', message: `Must not be nested more than ${DEPTH_MAX} deep.` }];
  if (Array.isArray(value)) return value.flatMap((item, index) => pairsBelow(`${key}[${index}]`, item, depth + 1));
  if (!isRecord(value)) return [pair(key, value)];
  return Object.entries(value).flatMap(([name, item]) => {
    if (/[[\]]/.test(name))
      return [{ code: 'wrong_format', message: 'Must not have brackets in the names of members.' }];
    return pairsBelow(`${key}[${encodeURIComponent(name.toWellFormed())}]`, item, depth + 1);
  });
}

function pair(key: string, value: unknown): WrittenValue {
  return withKey(key, scalarText(value), true);
}

function withKey(key: string, written: WrittenValue, encodes: boolean): WrittenValue {
  if (isUnwritable(written)) return written;
  return { text: `${key}=${encodes ? encodeURIComponent(written.text.toWellFormed()) : written.text}` };
}

function joinPairs(pairs: readonly WrittenValue[]): WrittenValue {
  return pairs.find(isUnwritable) ?? { text: pairs.map(textOf).join('&') };
}

function textOf(written: WrittenValue): string {
  return isUnwritable(written) ? '' : written.text;
}

function scalarText(value: unknown): WrittenValue {
  if (typeof value === 'string') return { text: value };
  if (typeof value === 'boolean') return { text: String(value) };
  if (value === null || value === undefined) return NO_NULL;
  if (typeof value !== 'number') return NOT_A_TEXT;
  return isExact(value) ? { text: plainNumber(value) } : INEXACT;
}

/** Whether the number certainly equals the text of the client. Parsing may have rounded a larger number. */
function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/** Writes a number without an exponent, such as `0.0000001` for `1e-7`, because not every service reads exponents. */
function plainNumber(value: number): string {
  const text = String(value);
  return /e/.test(text) ? value.toFixed(20).replace(/0+$/, '') : text;
}
