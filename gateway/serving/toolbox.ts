// Makes the tools of one configuration from its operations, and the list of tools that each caller gets. This happens on first use and in
// slices, because a contract may have a thousand operations.

import type { Configuration } from '../configuration.ts';
import type { ContractOperation } from '../contract/operations/operations.ts';
import { tagsOf, toToolOperation } from '../contract/tools/tool-operation.ts';
import { createYieldToLoop } from '../contract/yield-to-loop.ts';
import type { Caller } from '../exchange/caller.ts';
import type { Operation } from '../exchange/operation.ts';
import { createLists, type ToolList } from '../mcp/lists.ts';
import { SEARCH_DEFINITIONS } from '../mcp/search.ts';
import { createIsOpen, type Selection, select, type ToolCandidate } from '../mcp/selection.ts';
import type { McpSettings } from '../mcp/settings.ts';
import type { MayUse, Tool } from '../mcp/tool.ts';

interface Toolbox {
  selection(): Promise<Selection>;
  toolOf(name: string): Promise<Tool | undefined>;
  listOf(caller: Caller): Promise<ToolList>;
}

interface ToolboxOptions {
  readonly mayUse: MayUse;
  isDeprecated(operation: Operation): boolean;
}

export function createToolbox(
  { contracts }: Pick<Configuration, 'contracts'>,
  mcp: McpSettings,
  { mayUse, isDeprecated }: ToolboxOptions,
): Toolbox {
  let opening: Promise<OpenedTools> | undefined;

  interface OpenedTools {
    readonly selection: Selection;
    readonly byName: ReadonlyMap<string, Tool>;
    readonly listOf: (caller: Caller) => Promise<ToolList>;
  }

  function openTools(): Promise<OpenedTools> {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  async function open(): Promise<OpenedTools> {
    const pause = createYieldToLoop();
    const candidates: ToolCandidate[] = [];
    for (const entry of openedOperations(contracts.operations, mcp)) {
      await pause();
      const { operation } = entry;
      candidates.push({ operation, source: toToolOperation(entry), isDeprecated: isDeprecated(operation) });
    }
    const selection = select(candidates, mcp);
    const { tools } = selection;
    const listOf = createLists({ ...mcp, tools, mayUse, searchTools: SEARCH_DEFINITIONS, pause });
    return { selection, byName: new Map(tools.map((tool) => [tool.name, tool])), listOf };
  }

  return {
    selection: async () => (await openTools()).selection,
    toolOf: async (name) => (await openTools()).byName.get(name),
    listOf: async (caller) => (await openTools()).listOf(caller),
  };
}

/** Returns the operations that the block `mcp` selects. */
export function openedOperations(operations: readonly ContractOperation[], mcp: McpSettings): ContractOperation[] {
  const isOpen = createIsOpen(mcp);
  return operations.filter((entry) => isOpen(entry.operation, () => tagsOf(entry)));
}
