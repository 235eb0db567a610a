// Untrusted bytes → a JSON value. Throws malformed_json, duplicate_json_member, json_too_complex.

import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../errors.ts';

/**
 * Parses a request body. JSON.parse keeps the last of two members with one name while an upstream may keep the first, so bodies with
 * duplicates are refused (RFC 8259 section 4 leaves the choice open, which is what attacks rest on).
 */
export function parseJson(bytes: Buffer, depthMax: number): unknown {
  if (!isUtf8(bytes)) throw new GatewayError('malformed_json');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new GatewayError('malformed_json', { cause: error });
  }
  if (typeof value !== 'object' || value === null) return value;
  // Every member of the text is a colon outside of strings, and the parsed value has one of each name.
  if (countMembers(value, depthMax) !== countColons(text)) throw new GatewayError('duplicate_json_member');
  return value;
}

/** Members of all objects inside a value. Walks with its own stack: nesting is the sender's choice. */
function countMembers(value: object, depthMax: number): number {
  let count = 0;
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > depthMax) throw new GatewayError('json_too_complex', { fields: { max_depth: depthMax } });
    const below: object[] = [];
    for (const node of level) {
      const members = Array.isArray(node) ? node : Object.values(node);
      if (members !== node) count += members.length;
      for (const item of members) if (typeof item === 'object' && item !== null) below.push(item);
    }
    level = below;
  }
  return count;
}

/** Colons outside of strings, in a text that is known to be JSON. Jumps from quote to quote. */
function countColons(text: string): number {
  let count = 0;
  let from = 0;
  for (;;) {
    const quote = text.indexOf('"', from);
    for (let colon = text.indexOf(':', from); colon !== -1 && (quote === -1 || colon < quote); ) {
      count++;
      colon = text.indexOf(':', colon + 1);
    }
    if (quote === -1) return count;
    let end = text.indexOf('"', quote + 1);
    while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
    from = end + 1;
  }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 92) backslashes++;
  return backslashes % 2 === 1;
}
