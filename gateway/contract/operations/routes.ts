// The routing tree, which finds the operation of a path and method. The cost depends on the length of the path, not on the number of
// operations.

import type { Operation } from '../../exchange/operation.ts';
import { uriDecoded } from '../pointer.ts';

interface RouteMatch {
  readonly operation: Operation;
  readonly values: readonly string[];
}

export interface Routes {
  /** Returns the operation; undefined if no operation has this path and method. `segments` are percent-decoded. */
  find(method: string, segments: readonly string[]): RouteMatch | undefined;
  /** Returns the methods served at a path (HEAD if GET is), or an empty list if the path is unknown. */
  allowedMethods(segments: readonly string[]): readonly string[];
  /** Returns the path template; undefined if the path is unknown. */
  pathOf(segments: readonly string[]): string | undefined;
}

interface Node {
  readonly literals: Map<string, Node>;
  /** Segments that mix text and parameters, `{base}...{head}` or `{id}:cancel`. */
  readonly mixed: { readonly template: string; readonly texts: readonly string[]; readonly node: Node }[];
  parameter: Node | undefined;
  /** Parameters that accept slashes, by the number of segments behind them, most first. */
  rests: { readonly behind: number; readonly node: Node }[] | undefined;
  operations: Map<string, Operation> | undefined;
}

/** Builds the tree. Two operations with the same method and shape must already be refused. */
export function createRoutes(operations: readonly Operation[]): Routes {
  const root = emptyNode();
  for (const operation of operations) insert(root, operation);

  function find(method: string, segments: readonly string[]): RouteMatch | undefined {
    const values: string[] = [];
    const operation = descend(root, segments, 0, values, (node) => node.operations?.get(method));
    return operation && { operation, values };
  }

  function allowedMethods(segments: readonly string[]): readonly string[] {
    const methods = new Set<string>();
    descend(root, segments, 0, [], (node) => {
      for (const method of node.operations?.keys() ?? []) methods.add(method);
      return undefined;
    });
    if (methods.has('GET')) methods.add('HEAD');
    if (methods.size > 0) methods.add('OPTIONS');
    return [...methods].sort();
  }

  function pathOf(segments: readonly string[]): string | undefined {
    return descend(root, segments, 0, [], (node) => node.operations?.values().next().value)?.path;
  }

  return { find, allowedMethods, pathOf };
}

/** Returns the segments of a template, percent-decoded for comparison. */
export function segmentsOf(template: string): string[] {
  return template.split('/').slice(1).map(uriDecoded);
}

/** Whether a request can have the path of a template. A path ends before a question mark. */
export function isRequestable(template: string): boolean {
  return !template.includes('?');
}

export function templateParameters(template: string): string[] {
  return [...template.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] as string);
}

/**
 * Returns the template without parameter names. Operations with the same shape and method match the same requests.
 *
 * @param restOfPath the parameter that accepts slashes, if there is one
 */
export function shapeOf(template: string, restOfPath?: string): string {
  return template.replace(/\{([^}]*)\}/g, (_, name) => (name === restOfPath ? '{/}' : '{}'));
}

function emptyNode(): Node {
  return { literals: new Map(), mixed: [], parameter: undefined, rests: undefined, operations: undefined };
}

function insert(root: Node, operation: Operation): void {
  const { path, method, restOfPath } = operation;
  let node = root;
  const segments = segmentsOf(path);
  for (const [index, segment] of segments.entries()) {
    const takesSlashes = restOfPath !== undefined && segment === `{${restOfPath}}`;
    node = takesSlashes ? restFor(node, segments.length - index - 1) : childFor(node, segment);
  }
  node.operations ??= new Map();
  node.operations.set(method, operation);
}

function restFor(node: Node, behind: number): Node {
  node.rests ??= [];
  const known = node.rests.find((rest) => rest.behind === behind);
  if (known) return known.node;
  const made = { behind, node: emptyNode() };
  node.rests.push(made);
  // Segments behind a parameter make a template more specific, so it is tried first.
  node.rests.sort((a, b) => b.behind - a.behind);
  return made.node;
}

function childFor(node: Node, segment: string): Node {
  if (/^\{[^{}]*\}$/.test(segment)) {
    node.parameter ??= emptyNode();
    return node.parameter;
  }
  if (segment.includes('{')) {
    const template = shapeOf(segment);
    const known = node.mixed.find((mixed) => mixed.template === template);
    if (known) return known.node;
    const made = { template, texts: segment.split(/\{[^{}]*\}/), node: emptyNode() };
    node.mixed.push(made);
    // Segments with more literal text are more specific, so they are tried first.
    node.mixed.sort((a, b) => b.template.length - a.template.length);
    return made.node;
  }
  const literal = node.literals.get(segment) ?? emptyNode();
  node.literals.set(segment, literal);
  return literal;
}

/**
 * Returns the values between the literal texts of a mixed segment, each as short as possible but not empty; undefined if the segment does
 * not match. Uses a text search, because a regular expression with several lazy groups would take quadratic time on a hostile segment.
 */
export function valuesBetween(texts: readonly string[], segment: string): string[] | undefined {
  const first = texts[0] as string;
  const last = texts.at(-1) as string;
  if (!segment.startsWith(first) || !segment.endsWith(last)) return undefined;
  const end = segment.length - last.length;
  const values: string[] = [];
  let from = first.length;
  for (const [index, text] of texts.slice(1).entries()) {
    const at = index === texts.length - 2 ? end : segment.indexOf(text, from + 1);
    if (at <= from || at > end) return undefined;
    values.push(segment.slice(from, at));
    from = at + text.length;
  }
  return values;
}

/**
 * Searches depth first, and tries literal, then mixed, then parameter segments, so that literals win from left to right. Parameters that
 * accept slashes come last.
 */
function descend(
  node: Node,
  segments: readonly string[],
  depth: number,
  values: string[],
  pick: (node: Node) => Operation | undefined,
): Operation | undefined {
  if (depth === segments.length) return pick(node);
  const segment = segments[depth] as string;
  const literal = node.literals.get(segment);
  if (literal) {
    const found = descend(literal, segments, depth + 1, values, pick);
    if (found) return found;
  }
  if (segment === '') return descendRests(node, segments, depth, values, pick);
  const taken = values.length;
  for (const mixed of node.mixed) {
    const between = valuesBetween(mixed.texts, segment);
    if (!between) continue;
    values.push(...between);
    const found = descend(mixed.node, segments, depth + 1, values, pick);
    if (found) return found;
    values.length = taken;
  }
  if (node.parameter) {
    values.push(segment);
    const found = descend(node.parameter, segments, depth + 1, values, pick);
    if (found) return found;
    values.length = taken;
  }
  return descendRests(node, segments, depth, values, pick);
}

/** Gives all remaining segments to a parameter, except the segments that the template has behind it. Only the last segment can be empty. */
function descendRests(
  node: Node,
  segments: readonly string[],
  depth: number,
  values: string[],
  pick: (node: Node) => Operation | undefined,
): Operation | undefined {
  if (node.rests === undefined) return undefined;
  for (const { behind, node: next } of node.rests) {
    const end = segments.length - behind;
    if (end <= depth) continue;
    values.push(segments.slice(depth, end).join('/'));
    const found = descend(next, segments, end, values, pick);
    if (found) return found;
    values.length -= 1;
  }
  return undefined;
}
