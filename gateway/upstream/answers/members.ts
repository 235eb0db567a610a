// Places in a JSON tree by dotted names (`data.items.*.token`, `*` for all items of a list): finding, changing, taking away.

import type { JsonNode } from './json-tree.ts';

/** A dotted name, taken apart. */
export type MemberPath = readonly string[];

export function memberPath(dotted: string): MemberPath {
  return dotted.split('.');
}

/** What stands at a path without `*`. Of two members of one name the last one counts, as for JSON.parse. */
export function nodeAt(root: JsonNode | undefined, path: MemberPath): JsonNode | undefined {
  let node = root;
  for (const name of path) {
    if (node?.kind !== 'object') return undefined;
    node = node.members.findLast(([candidate]) => candidate === name)?.[1];
  }
  return node;
}

/**
 * The tree with what stands at a path replaced by what `change` makes of it, and taken away where that is undefined. Where nothing
 * changes, the very same tree comes back.
 */
export function changeAt(
  node: JsonNode,
  path: MemberPath,
  change: (found: JsonNode) => JsonNode | undefined,
): JsonNode | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return change(node);
  if (node.kind === 'array' && name === '*') {
    const items = node.items.map((item) => changeAt(item, rest, change));
    if (items.every((item, index) => item === node.items[index])) return node;
    return { kind: 'array', items: items.filter((item) => item !== undefined) };
  }
  if (node.kind !== 'object') return node;
  const members = node.members.map((member) => {
    if (member[0] !== name) return member;
    const changed = changeAt(member[1], rest, change);
    if (changed === member[1]) return member;
    return changed && ([name, changed] as const);
  });
  if (members.every((member, index) => member === node.members[index])) return node;
  return { kind: 'object', members: members.filter((member) => member !== undefined) };
}
