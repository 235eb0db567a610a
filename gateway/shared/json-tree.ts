// Parses JSON into a tree without loss, and prints it again. JSON.parse rounds integers above 2^53, keeps only one of two members with the
// same name, and misreads escapes in names (V8: chromium 521080746, in Node 24 and 26).

import { isUtf8 } from 'node:buffer';
import { type JsonVisitor, scanJson } from './json-scanner.ts';

export type Scalar = string | number | boolean | null;

export interface JsonTreeObject {
  readonly kind: 'object';
  /** The members, in the order of the text. Names may repeat. */
  readonly members: readonly (readonly [name: string, value: JsonNode])[];
}
interface JsonArray {
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

/**
 * Deepest nesting. The configuration allows no deeper request bodies, and real answers are not as deep. The bound also limits the recursion
 * of functions that walk a tree.
 */
const DEPTH_MAX = 1000;

/** Returns the tree of a JSON text in UTF-8; undefined if the bytes are not JSON, or are nested deeper than `depthMax`. */
export function readJson(bytes: Buffer, depthMax = DEPTH_MAX): JsonNode | undefined {
  if (!isUtf8(bytes)) return undefined;
  const builder = createBuilder(depthMax);
  return scanJson(bytes.toString('utf8'), builder) === undefined ? builder.root() : undefined;
}

/** Prints a tree without spaces, every scalar as written. */
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

/** An object or array whose end the scanner has not reached, and the name of the member it is reading. */
interface UnfinishedNode {
  readonly members: (readonly [string, JsonNode])[] | undefined;
  readonly items: JsonNode[];
  name: string;
}

function createBuilder(depthMax: number): JsonVisitor & { root(): JsonNode | undefined } {
  const outer: UnfinishedNode[] = [];
  let inner: UnfinishedNode = { members: undefined, items: [], name: '' };

  function add(node: JsonNode): void {
    if (inner.members) inner.members.push([inner.name, node]);
    else inner.items.push(node);
  }

  return {
    root: () => inner.items[0],
    open(isObject) {
      if (outer.length >= depthMax) return false;
      outer.push(inner);
      inner = { members: isObject ? [] : undefined, items: [], name: '' };
      return true;
    },
    name(literal) {
      inner.name = scalarFrom(literal) as string;
    },
    scalar: (literal) => add({ kind: 'scalar', value: scalarFrom(literal), text: literal }),
    close() {
      const { members, items } = inner;
      inner = outer.pop() as UnfinishedNode;
      add(members ? { kind: 'object', members } : { kind: 'array', items });
    },
  };
}

/** Parses a scalar or a name. V8 misreads escapes in the names of an object, but not in a single string. */
function scalarFrom(literal: string): Scalar {
  return literal.startsWith('"') && !literal.includes('\\') ? literal.slice(1, -1) : (JSON.parse(literal) as Scalar);
}
