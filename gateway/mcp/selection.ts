// Selects the operations that are tools, by the entries, tags and names in the block `mcp`. Also finds names in this block that match
// nothing.

import type { Operation } from '../exchange/operation.ts';
import type { ToolSource } from '../shared/contracts/tool-source.ts';
import { type Mistake, suggest } from '../shared/mistakes.ts';
import type { Source } from '../shared/yaml-source.ts';
import { namesOf } from './names.ts';
import type { McpSettings } from './settings.ts';
import type { Tool } from './tool.ts';

/** An operation of a contract. */
export interface ToolCandidate {
  readonly operation: Operation;
  readonly source: ToolSource;
  readonly isDeprecated: boolean;
}

/** An opened operation that cannot be a tool. */
interface LeftOut {
  readonly operation: Operation;
  readonly reason: string;
}

export interface Selection {
  /** The tools, in the order of their names, so that the order of files does not matter. */
  readonly tools: readonly Tool[];
  readonly leftOut: readonly LeftOut[];
}

type Opening = Pick<McpSettings, 'entries' | 'tags' | 'operations' | 'except' | 'thirdParties'>;

/** Whether an operation is opened. `tags` is a function, because few settings depend on tags. */
export function createIsOpen({ entries, tags, operations, except }: Opening) {
  const open = { entries: new Set(entries), tags: new Set(tags), operations: new Set(operations) };
  const closed = new Set(except);
  return function isOpen({ id, qualifiedId, entry }: Operation, tagsOf: () => readonly string[]): boolean {
    if (closed.has(id) || closed.has(qualifiedId)) return false;
    if (open.entries.has(entry) || open.operations.has(id) || open.operations.has(qualifiedId)) return true;
    return open.tags.size > 0 && tagsOf().some((tag) => open.tags.has(tag));
  };
}

/** Chooses and names the tools among the opened operations. */
export function select(opened: readonly ToolCandidate[], { thirdParties }: Pick<Opening, 'thirdParties'>): Selection {
  const leftOut: LeftOut[] = [];
  const possible = opened.filter(({ operation, source }) => {
    if (source.says.hidden === true) return false;
    if (source.obstacle !== undefined) leftOut.push({ operation, reason: source.obstacle });
    return source.obstacle === undefined;
  });
  const names = namesOf(possible.map(({ operation, source }) => ({ id: operation.id, wanted: source.says.name })));
  const tools = possible.flatMap(({ operation, source, isDeprecated }, index) => {
    const name = names[index];
    if (name !== undefined)
      return { name, operation, source, isDeprecated, isForeign: thirdParties.includes(operation.entry) };
    leftOut.push({ operation, reason: `another tool has the name ${source.says.name}` });
    return [];
  });
  return { tools: tools.sort((one, other) => (one.name < other.name ? -1 : 1)), leftOut };
}

interface SelectionNames {
  readonly operations: readonly { readonly operation: Operation; readonly tags: readonly string[] }[];
  readonly entries: readonly string[];
}

/** Adds a mistake for each name of the block that does not exist, and for a path that belongs to an operation. */
export function checkMcp(
  mcp: McpSettings | undefined,
  known: SelectionNames,
  source: Source,
  mistakes: Mistake[],
): void {
  if (mcp === undefined) return;
  const ids = known.operations.flatMap(({ operation: { id, qualifiedId } }) => [id, qualifiedId]);
  const lists = [
    ['entries', known.entries, 'entry'],
    ['thirdParties', known.entries, 'entry'],
    ['tags', known.operations.flatMap(({ tags }) => tags), 'tag'],
    ['operations', ids, 'operation'],
    ['except', ids, 'operation'],
  ] as const;
  for (const [list, names, what] of lists) {
    const there = new Set(names);
    for (const [index, name] of mcp[list].entries()) {
      if (there.has(name)) continue;
      const reason = `there is no ${what} "${name}".`;
      mistakes.push(source.mistakeAt(['mcp', list, index], reason, suggest(name, [...there])));
    }
  }
  const taken = known.operations.find(({ operation: { path } }) => path === mcp.path);
  if (taken === undefined) return;
  const reason = `the operation ${taken.operation.id} has the path ${mcp.path}.`;
  mistakes.push(source.mistakeAt(['mcp', 'path'], reason, 'Choose a path that no contract has.'));
}
