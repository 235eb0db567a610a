// Adds an entry to the text of upstreams.yaml, and keeps the comments and the layout of the other entries. Pure.

import { isDeepStrictEqual } from 'node:util';
import { isCollection, isMap, isScalar, parse, parseDocument, type YAMLMap } from 'yaml';
import type { ProposedEntry } from './propose-entry.ts';

/**
 * Returns the text with the entry; undefined if no entry can be added, because the text has mistakes, or `upstreams` is not a map.
 *
 * @param comments comment lines for below the entry; left out if the map is in braces
 */
export function withEntry(
  text: string,
  name: string,
  entry: ProposedEntry,
  comments: readonly string[] = [],
): string | undefined {
  const before = read(text);
  const made = before && addEntry(text, name, { ...entry, comments });
  if (before === undefined || made === undefined) return undefined;
  // Compare the result, because an entry may be lost in a text with an unusual layout.
  const wanted = { ...before, upstreams: { ...(before.upstreams as object | null), [name]: entry } };
  return isDeepStrictEqual(read(made), wanted) ? made : undefined;
}

function read(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return parse(text) ?? {};
  } catch {
    return undefined;
  }
}

type CommentedEntry = ProposedEntry & { readonly comments: readonly string[] };

function addEntry(text: string, name: string, commented: CommentedEntry): string | undefined {
  const { comments: _, ...entry } = commented;
  const { contents: root } = parseDocument(text);
  const upstreams = isMap(root) ? root.get('upstreams', true) : undefined;
  if (isMap(root) && root.flow && !isMap(upstreams)) return withMember(text, root, 'upstreams', { [name]: entry });
  if (upstreams === undefined) return `${text.trimEnd()}\nupstreams:\n${linesOf(name, commented, '  ')}`.trimStart();
  if (!upstreams.range) return undefined;
  const [start, end] = upstreams.range;
  if (isMap(upstreams) && !upstreams.flow) {
    const [indent = ''] = /[^\n]*$/.exec(text.slice(0, start)) ?? [];
    return `${text.slice(0, end).trimEnd()}\n${linesOf(name, commented, indent)}${text.slice(end)}`;
  }
  // The new lines replace an empty map, or no value.
  const isEmpty = isMap(upstreams) ? /^\{\s*\}$/.test(text.slice(start, end)) : isScalar(upstreams);
  if (isEmpty && !(isMap(root) && root.flow))
    return `${text.slice(0, start).trimEnd()}\n${linesOf(name, commented, '  ')}${text.slice(end).trimStart()}`;
  return isMap(upstreams) ? withMember(text, upstreams, name, entry) : undefined;
}

/** Adds a member to a map in braces, as JSON, because the file may be JSON. */
function withMember(text: string, map: YAMLMap, name: string, value: unknown): string | undefined {
  const written = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
  const last = map.items.at(-1)?.value;
  const [start = 0] = map.range ?? [];
  if (last === undefined) return `${text.slice(0, start + 1)}${written}${text.slice(start + 1)}`;
  if (!(isScalar(last) || isCollection(last)) || !last.range) return undefined;
  const [, end] = last.range;
  return `${text.slice(0, end)}, ${written}${text.slice(end)}`;
}

function linesOf(
  name: string,
  { contracts, live, test, basePath, operationNames, security, health, comments }: CommentedEntry,
  indent: string,
): string {
  const lines = [
    `${name}:`,
    `  contracts: [${contracts.join(', ')}]`,
    `  live: ${live}`,
    `  test: "${test}" # test keys get answers from the contract`,
    ...(basePath === undefined ? [] : [`  basePath: ${basePath}`]),
    ...(operationNames === undefined ? [] : [`  operationNames: ${operationNames}`]),
    `  security: { read: ["${security.read.join('", "')}"], write: ["${security.write.join('", "')}"] }`,
    ...(health === undefined ? [] : [`  health: { path: ${JSON.stringify(health.path)} }`]),
    ...comments.map((comment) => `  # ${comment}`),
  ];
  return lines.map((line) => `${indent}${line}\n`).join('');
}
