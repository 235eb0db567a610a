// Parses untrusted bytes as JSON. Throws malformed_json, duplicate_json_member, json_too_complex.

import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../catalogue/errors.ts';
import { jsonFaultAt } from '../shared/json-scanner.ts';
import { jsonTreeValue, readJson } from '../shared/json-tree.ts';
import { mayBeInexact } from './scalars/exact-numbers.ts';
import { type UncheckableNumber, uncheckableNumbers } from './scalars/number-literals.ts';

interface Json {
  readonly value: unknown;
  /** Number of members and items at all depths. */
  readonly size: number;
  /** Numbers that no check could hold to the contract. */
  readonly uncheckable: readonly UncheckableNumber[];
}

export interface JsonLimits {
  /** Levels of nesting. */
  readonly jsonDepthMax: number;
  /** Maximum number of members and items at all depths. It bounds the work of all code that walks the value later. */
  readonly jsonMembersMax: number;
}

const NO_NUMBERS: readonly UncheckableNumber[] = [];

/**
 * Parses a request body. Refuses duplicate member names, because JSON.parse keeps the last of two members with one name, and an upstream
 * may keep the first (RFC 8259 section 4 leaves this open, and attacks exploit it). Notes numbers that a double cannot represent exactly.
 */
export function parseJson(bytes: Buffer, { jsonDepthMax: depthMax, jsonMembersMax: membersMax }: JsonLimits): Json {
  if (!isUtf8(bytes)) throw malformedJson(bytes);
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformedJson(bytes, error);
  }
  const names = look(text);
  if (names.escaped) {
    const root = readJson(bytes, depthMax);
    if (root === undefined) throw tooDeep(depthMax);
    value = jsonTreeValue(root);
  }
  const { members, items, depth } = measure(value, depthMax);
  if (depth > depthMax) throw tooDeep(depthMax);
  // The parsed value has each name once, so a different count means a duplicate.
  if (members !== names.count) throw new GatewayError('duplicate_json_member');
  const size = members + items;
  if (size > membersMax) throw new GatewayError('json_too_complex', { fields: { max_members: membersMax } });
  return { value, size, uncheckable: names.inexact ? uncheckableNumbers(text) : NO_NUMBERS };
}

/**
 * Returns the value of a JSON text without escapes in names and without duplicate names; undefined for any other text. JSON.parse can
 * misread escaped names (shared/json-tree.ts) and drops duplicates.
 */
export function parseUnescaped(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const names = look(text);
  return !names.escaped && names.count === measure(value, Number.POSITIVE_INFINITY).members ? value : undefined;
}

/** Whether a text, known to be JSON, contains escapes in names. */
export function hasEscapedNames(text: string): boolean {
  return text.includes('\\') && look(text).escaped;
}

/** Whether a text, known to be JSON, contains numbers that a double may not represent exactly. */
export function hasLongNumbers(text: string): boolean {
  return look(text).inexact;
}

interface Measure {
  readonly members: number;
  readonly items: number;
  readonly depth: number;
}

/** Counts members and items down to a depth. Iterates level by level instead of recursing, because the client chooses the nesting depth. */
export function measure(value: unknown, depthMax: number): Measure {
  let members = 0;
  let items = 0;
  let depth = 0;
  let level: object[] = isContainer(value) ? [value] : [];
  while (level.length > 0 && ++depth <= depthMax) {
    const below: object[] = [];
    for (const node of level) {
      const contents = Array.isArray(node) ? node : Object.values(node);
      if (contents === node) items += contents.length;
      else members += contents.length;
      for (const item of contents) if (isContainer(item)) below.push(item);
    }
    level = below;
  }
  return { members, items, depth };
}

/** Returns whether a value is an object or a list. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Returns the refusal of malformed JSON, which contains the offset, and no content. */
function malformedJson(bytes: Buffer, cause?: unknown): GatewayError {
  return new GatewayError('malformed_json', { fields: { byte_offset: jsonFaultAt(bytes) }, cause });
}

function tooDeep(depthMax: number): GatewayError {
  return new GatewayError('json_too_complex', { fields: { max_depth: depthMax } });
}

interface Look {
  /** Number of names: strings that a colon follows. */
  readonly count: number;
  /** Whether a name has escapes. */
  readonly escaped: boolean;
  /** Whether a double may differ from a number in the text. */
  readonly inexact: boolean;
}

/** Examines a text that is valid JSON, by jumping from quote to quote. */
function look(text: string): Look {
  let count = 0;
  let escaped = false;
  let inexact = false;
  let from = 0;
  for (let quote = text.indexOf('"'); quote !== -1; quote = text.indexOf('"', from)) {
    inexact ||= mayBeInexact(text, from, quote);
    const end = endOfString(text, quote);
    from = pastSpace(text, end);
    if (text.charCodeAt(from) !== 58) continue;
    count++;
    escaped ||= text.slice(quote, end).includes('\\');
  }
  return { count, escaped, inexact: inexact || mayBeInexact(text, from) };
}

/** Returns the offset after the closing quote of the string that begins at `quote`. */
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
