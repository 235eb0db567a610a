// A JSON tree that keeps every scalar as written, so that printing it changes only the intended parts: JSON.parse would round integers
// above 2^53, and V8 misreads escapes in member names (chromium 521080746).

import { isUtf8 } from 'node:buffer';

export type Scalar = string | number | boolean | null;

export interface JsonTreeObject {
  readonly kind: 'object';
  /** In the order of the text; names may repeat. */
  readonly members: readonly (readonly [name: string, value: JsonNode])[];
}
export interface JsonArray {
  readonly kind: 'array';
  readonly items: readonly JsonNode[];
}
export interface JsonScalar {
  readonly kind: 'scalar';
  readonly value: Scalar;
  /** The literal as written. */
  readonly text: string;
}
export type JsonNode = JsonTreeObject | JsonArray | JsonScalar;

/** Limit for recursion. The configuration allows no deeper bodies, and real answers do not reach it. */
const DEPTH_MAX = 1000;

/** Parses JSON in UTF-8; undefined if it is not JSON or is nested too deeply. */
export function readJson(bytes: Buffer): JsonNode | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  try {
    // Validates the text, so that the reader below only has to find boundaries.
    JSON.parse(text);
    return treeOf(text);
  } catch {
    return undefined;
  }
}

export function printJsonTree(node: JsonNode): string {
  if (node.kind === 'scalar') return node.text;
  if (node.kind === 'array') return `[${node.items.map(printJsonTree).join(',')}]`;
  return `{${node.members.map(([name, value]) => `${JSON.stringify(name)}:${printJsonTree(value)}`).join(',')}}`;
}

/** Converts to a JavaScript value. Every name becomes an own property, `__proto__` too. */
export function jsonTreeValue(node: JsonNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'array') return node.items.map(jsonTreeValue);
  return Object.fromEntries(node.members.map(([name, value]) => [name, jsonTreeValue(value)]));
}

export function scalarOf(value: Scalar): JsonScalar {
  return { kind: 'scalar', value, text: JSON.stringify(value) };
}

/** Reads valid JSON. Throws RangeError if it is nested too deeply. */
function treeOf(text: string): JsonNode {
  let at = 0;

  function read(depth: number): JsonNode {
    if (depth > DEPTH_MAX) throw new RangeError('nested too deeply');
    at = pastSpace(text, at);
    if (text[at] === '{') return readObject(depth);
    if (text[at] === '[') return readArray(depth);
    return readScalar();
  }

  function readObject(depth: number): JsonTreeObject {
    const members: [string, JsonNode][] = [];
    at = pastSpace(text, at + 1);
    while (text[at] !== '}') {
      const name = readScalar().value as string;
      at = pastSpace(text, at) + 1;
      members.push([name, read(depth + 1)]);
      at = pastSeparator(text, at);
    }
    at++;
    return { kind: 'object', members };
  }

  function readArray(depth: number): JsonArray {
    const items: JsonNode[] = [];
    at = pastSpace(text, at + 1);
    while (text[at] !== ']') {
      items.push(read(depth + 1));
      at = pastSeparator(text, at);
    }
    at++;
    return { kind: 'array', items };
  }

  function readScalar(): JsonScalar {
    const start = at;
    if (text[at] === '"') at = endOfString(text, at);
    else while (at < text.length && !',]} \t\r\n'.includes(text[at] as string)) at++;
    const literal = text.slice(start, at);
    return { kind: 'scalar', value: JSON.parse(literal) as Scalar, text: literal };
  }

  return read(0);
}

/** The index after the closing quote of the string that begins at `quote`. */
function endOfString(text: string, quote: number): number {
  let at = quote + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function pastSpace(text: string, from: number): number {
  let at = from;
  while (' \t\r\n'.includes(text[at] ?? '.')) at++;
  return at;
}

function pastSeparator(text: string, from: number): number {
  const at = pastSpace(text, from);
  return text[at] === ',' ? pastSpace(text, at + 1) : at;
}
