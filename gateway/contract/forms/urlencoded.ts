// Reads an application/x-www-form-urlencoded body (WHATWG URL Standard, section 5.1). Throws malformed_form.

import { isUtf8 } from 'node:buffer';
import { malformedForm } from './malformed.ts';

/**
 * Calls `onPair` with each decoded name and value. Refuses broken escapes, bytes that are not UTF-8, and a bare semicolon, at which some
 * services split.
 */
export function readUrlencoded(body: Buffer, onPair: (name: string, value: string) => void): void {
  if (!isUtf8(body)) throw malformedForm('escape');
  const text = body.toString('utf8');
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('&', start);
    const end = found === -1 ? text.length : found;
    if (end > start) {
      const pair = text.slice(start, end);
      const equals = pair.indexOf('=');
      const name = decoded(equals === -1 ? pair : pair.slice(0, equals));
      const value = equals === -1 ? '' : decoded(pair.slice(equals + 1));
      if (name === undefined || value === undefined) throw malformedForm('escape', offsetOf(text, start));
      if (pair.includes(';')) throw malformedForm('semicolon', offsetOf(text, start));
      onPair(name, value);
    }
    start = end + 1;
  }
}

/** A plus is a space. Undefined for a broken escape and for one that is not UTF-8. */
function decoded(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** The offset in bytes. */
function offsetOf(text: string, at: number): number {
  return Buffer.byteLength(text.slice(0, at));
}
