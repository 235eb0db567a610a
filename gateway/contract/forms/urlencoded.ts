// Reads an application/x-www-form-urlencoded body (WHATWG URL Standard, section 5.1). Throws malformed_form.

import { isUtf8 } from 'node:buffer';
import { decodeFormText } from '../parameters/form-text.ts';
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
      const name = decodeFormText(equals === -1 ? pair : pair.slice(0, equals));
      const value = equals === -1 ? '' : decodeFormText(pair.slice(equals + 1));
      if (name === undefined || value === undefined) throw malformedForm('escape', offsetOf(text, start));
      if (pair.includes(';')) throw malformedForm('semicolon', offsetOf(text, start));
      onPair(name, value);
    }
    start = end + 1;
  }
}

/** The offset in bytes. */
function offsetOf(text: string, at: number): number {
  return Buffer.byteLength(text.slice(0, at));
}
