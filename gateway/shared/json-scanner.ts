// Walks JSON text part by part and finds the place of a syntax error, in linear time. The scanner keeps its own stack instead of recursing,
// because the sender chooses the nesting depth.

import { isUtf8 } from 'node:buffer';

/** Receives the parts of a text in their order. */
export interface JsonVisitor {
  /** Returns false to stop the scanner. */
  open(isObject: boolean): boolean;
  name(literal: string): void;
  scalar(literal: string): void;
  close(): void;
}

/**
 * Returns the offset of the first byte that makes the bytes invalid, or the length if they end too early. Returns undefined if they are
 * JSON. JSON.parse gives the position of only some errors, in wording that changes with V8.
 */
export function jsonFaultAt(bytes: Buffer): number | undefined {
  if (!isUtf8(bytes)) return utf8FaultAt(bytes);
  const text = bytes.toString('utf8');
  const fault = scanJson(text);
  return fault === undefined ? undefined : Buffer.byteLength(text.slice(0, fault));
}

/**
 * Returns the offset of the first invalid character, or the length of a text that ends too early. Returns undefined if the text is JSON.
 */
export function scanJson(text: string, visitor?: JsonVisitor): number | undefined {
  let at = pastSpace(text, 0);
  /** The closing brackets of the objects and arrays around the current place. */
  const closing: string[] = [];

  /** Stops at the first invalid character, as all these functions do. */
  function skipString(): boolean {
    if (text[at] !== '"') return false;
    for (at++; text[at] !== '"'; ) {
      // Control characters must be escaped. After the end of the text the code is NaN.
      if (!(text.charCodeAt(at) >= 32)) return false;
      const past = text[at] === '\\' ? pastMatch(ESCAPE, text, at) : at + 1;
      if (past === undefined) return false;
      at = past;
    }
    at++;
    return true;
  }

  function skipName(): boolean {
    const start = at;
    if (!skipString()) return false;
    visitor?.name(text.slice(start, at));
    at = pastSpace(text, at);
    if (text[at] !== ':') return false;
    at = pastSpace(text, at + 1);
    return true;
  }

  function skipScalar(): boolean {
    const start = at;
    if (text[at] !== '"') at = pastMatch(SCALAR, text, at) ?? at;
    else if (!skipString()) return false;
    if (at === start) return false;
    visitor?.scalar(text.slice(start, at));
    at = pastSpace(text, at);
    return true;
  }

  /** Skips opening brackets up to a scalar or to the end of an empty object or array. */
  function skipToValue(): boolean {
    for (;;) {
      if (closing.at(-1) === '}' && !skipName()) return false;
      const first = text[at];
      if (first !== '{' && first !== '[') return skipScalar();
      if (visitor?.open(first === '{') === false) return false;
      closing.push(first === '{' ? '}' : ']');
      at = pastSpace(text, at + 1);
      if (text[at] === closing.at(-1)) return true;
    }
  }

  /** Skips closing brackets and a comma. Returns whether another value must follow. */
  function skipToNext(): boolean {
    while (closing.length > 0 && text[at] === closing.at(-1)) {
      closing.pop();
      visitor?.close();
      at = pastSpace(text, at + 1);
    }
    if (closing.length === 0 || text[at] !== ',') return false;
    at = pastSpace(text, at + 1);
    return true;
  }

  do if (!skipToValue()) return at;
  while (skipToNext());
  return closing.length === 0 && at === text.length ? undefined : at;
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Returns the offset after a match at `at`, or undefined. */
function pastMatch(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function pastSpace(text: string, from: number): number {
  let at = from;
  let code = text.charCodeAt(at);
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at);
  return at;
}

/** Returns the offset of the first byte that is not UTF-8, or the length if all bytes are. */
function utf8FaultAt(bytes: Buffer): number {
  let at = 0;
  // Undecodable bytes become U+FFFD, but the text may also contain this character itself.
  for (const text of bytes.toString('utf8').split('\ufffd')) {
    at += Buffer.byteLength(text);
    if (bytes.toString('latin1', at, at + 3) !== '\xef\xbf\xbd') break;
    at += 3;
  }
  return at;
}
