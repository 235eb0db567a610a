// Untrusted bytes → a JSON value. Throws malformed_json, duplicate_json_member, json_too_complex.

import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../errors.ts';
import { faultInJson, faultInUtf8 } from './json-fault.ts';
import { type Overflow, overflowsIn } from './overflow.ts';

export interface Json {
  readonly value: unknown;
  /** How many members and items there are in it, at all depths. */
  readonly size: number;
  /** Numbers in it that a double cannot hold. */
  readonly overflows: readonly Overflow[];
}

export interface JsonLimits {
  /** Levels of nesting. */
  readonly jsonDepthMax: number;
  /** Members and items at all depths: what everything that looks at a value later has to walk through. */
  readonly jsonMembersMax: number;
}

const none: readonly Overflow[] = [];

/**
 * Parses a request body. JSON.parse keeps the last of two members with one name while an upstream may keep the first, so bodies with
 * duplicates are refused (RFC 8259 section 4 leaves the choice open, which is what attacks rest on).
 */
export function parseJson(bytes: Buffer, { jsonDepthMax: depthMax, jsonMembersMax: membersMax }: JsonLimits): Json {
  if (!isUtf8(bytes)) throw malformed(faultInUtf8(bytes));
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed(Buffer.byteLength(text.slice(0, faultInJson(text))), error);
  }
  const names = countNames(text);
  if (names.escaped) value = readEscaped(text, depthMax);
  const { members, items, depth, overflows } = measure(value, depthMax);
  if (depth > depthMax) throw tooDeep(depthMax);
  // The parsed value has one member of each name.
  if (members !== names.count) throw new GatewayError('duplicate_json_member');
  const size = members + items;
  if (size > membersMax) throw new GatewayError('json_too_complex', { fields: { max_members: membersMax } });
  return { value, size, overflows: overflows ? overflowsIn(value) : none };
}

/**
 * The value of a text without escapes and repetitions among its names; `undefined` for any other text, JSON or not. Those names are what
 * JSON.parse cannot be trusted with (readEscaped), and what makes it drop members.
 */
export function parseUnescaped(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const names = countNames(text);
  return !names.escaped && names.count === measure(value, Number.POSITIVE_INFINITY).members ? value : undefined;
}

/** Whether a text that is known to be JSON has escapes in its names. */
export function hasEscapedNames(text: string): boolean {
  return text.includes('\\') && countNames(text).escaped;
}

interface Measure {
  readonly members: number;
  readonly items: number;
  readonly depth: number;
  /** Whether there is a number that a double cannot hold. */
  readonly overflows: boolean;
}

/** Counts what is in a value, down to a depth. Walks with its own stack: nesting is the sender's choice. */
export function measure(value: unknown, depthMax: number): Measure {
  let members = 0;
  let items = 0;
  let depth = 0;
  let overflows = isBeyond(value);
  let level: object[] = isContainer(value) ? [value] : [];
  while (level.length > 0 && ++depth <= depthMax) {
    const below: object[] = [];
    for (const node of level) {
      const contents = Array.isArray(node) ? node : Object.values(node);
      if (contents === node) items += contents.length;
      else members += contents.length;
      for (const item of contents) {
        if (isContainer(item)) below.push(item);
        else if (isBeyond(item)) overflows = true;
      }
    }
    level = below;
  }
  return { members, items, depth, overflows };
}

function isBeyond(value: unknown): boolean {
  return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Tells the place and never what is there. */
function malformed(byteOffset: number, cause?: unknown): GatewayError {
  return new GatewayError('malformed_json', { fields: { byte_offset: byteOffset }, cause });
}

function tooDeep(depthMax: number): GatewayError {
  return new GatewayError('json_too_complex', { fields: { max_depth: depthMax } });
}

/** Strings that a colon follows, in a text that is known to be JSON. Jumps from quote to quote. */
function countNames(text: string): { count: number; escaped: boolean } {
  let count = 0;
  let escaped = false;
  for (let quote = text.indexOf('"'); quote !== -1; ) {
    const end = endOfString(text, quote);
    const next = pastSpace(text, end);
    if (text.charCodeAt(next) === 58) {
      count++;
      escaped ||= text.slice(quote, end).includes('\\');
    }
    quote = text.indexOf('"', next);
  }
  return { count, escaped };
}

/** Behind the closing quote of the string that begins at `quote`. */
function endOfString(text: string, quote: number): number {
  let close = text.indexOf('"', quote + 1);
  while (isEscaped(text, close)) close = text.indexOf('"', close + 1);
  return close + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 92) backslashes++;
  return backslashes % 2 === 1;
}

function pastSpace(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code === 32 || (code >= 9 && code <= 13); code = text.charCodeAt(at)) at++;
  return at;
}

/**
 * The value of a text that JSON.parse has accepted and that has escapes in names. After it has once seen a name with a backslash in it,
 * V8 takes `\u0061` and other escapes in names for a backslash (chromium 521080746, in Node 24 and 26): any client could change what
 * is read of another's request. Strings by themselves are read rightly.
 */
function readEscaped(text: string, depthMax: number): unknown {
  let at = 0;

  function read(depth: number): unknown {
    at = pastSpace(text, at);
    const first = text[at];
    const isObject = first === '{';
    if (!isObject && first !== '[') return readScalar();
    if (depth >= depthMax) throw tooDeep(depthMax);
    const entries: [string, unknown][] = [];
    at = pastSpace(text, at + 1);
    while (text[at] !== (isObject ? '}' : ']')) {
      const name = isObject ? (readScalar() as string) : '';
      if (isObject) at = pastSpace(text, at) + 1;
      entries.push([name, read(depth + 1)]);
      at = pastSpace(text, at);
      if (text[at] === ',') at = pastSpace(text, at + 1);
    }
    at++;
    return isObject ? Object.fromEntries(entries) : entries.map(([, item]) => item);
  }

  function readScalar(): unknown {
    const start = at;
    if (text[at] === '"') at = endOfString(text, at);
    else while (at < text.length && !',]} \t\r\n'.includes(text[at] as string)) at++;
    return JSON.parse(text.slice(start, at));
  }

  return read(0);
}
