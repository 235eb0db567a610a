// Finds, changes and removes members of a JSON tree by dotted names (`data.items.*.token`, `*` for all items of a list).

import type { JsonNode } from '../../shared/json-tree.ts';

/** A dotted name, split at the dots. */
export type MemberPath = readonly string[];

export function memberPath(dotted: string): MemberPath {
  return dotted.split('.');
}

/** Returns the node at a path without `*`. If an object has several members of one name, the last one is used, as in JSON.parse. */
export function nodeAt(root: JsonNode | undefined, path: MemberPath): JsonNode | undefined {
  let node = root;
  for (const name of path) {
    if (node?.kind !== 'object') return undefined;
    node = node.members.findLast(([candidate]) => candidate === name)?.[1];
  }
  return node;
}

/** Replaces the nodes at a path by the result of `change`; undefined removes a node. Returns the same tree if nothing changes. */
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
