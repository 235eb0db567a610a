// Reports the tools of a configuration for `check` and `mcp tools`: their sizes, the rules that their schemas cannot express, and the
// operations that are not tools.

import { createMayUse } from '../auth/authorize.ts';
import type { Configuration } from '../configuration.ts';
import type { Caller } from '../exchange/caller.ts';
import { definitionText } from '../mcp/tool.ts';
import { deprecationsOf } from '../versions/deprecation.ts';
import { rightsOf } from './rights.ts';
import { createToolbox } from './toolbox.ts';

interface ReportedTool {
  readonly name: string;
  readonly operation: string;
  readonly bytes: number;
  /** The estimated number of tokens that the tool costs in the context of a model. */
  readonly tokens: number;
  readonly losses: readonly string[];
}

export interface ToolReport {
  readonly mode: 'list' | 'search';
  readonly tools: readonly ReportedTool[];
  /** Bytes of the list that a client gets. */
  readonly list_bytes: number;
  readonly list_tokens: number;
  readonly left_out: readonly { readonly operation: string; readonly reason: string }[];
}

/** The usual number of bytes of English text and JSON in one token of a model. */
const BYTES_PER_TOKEN = 4;

/**
 * Returns the report on tools; undefined if there is no endpoint for agents.
 *
 * @param caller the caller whose tools are reported; undefined for all tools
 */
export async function toolReport(configuration: Configuration, caller?: Caller): Promise<ToolReport | undefined> {
  const { gateway } = configuration.config;
  if (gateway.mcp === undefined) return undefined;
  const operations = configuration.contracts.operations.map(({ operation }) => operation);
  const deprecations = deprecationsOf(operations, gateway, gateway.publicUrl);
  const toolbox = createToolbox(configuration, gateway.mcp, {
    mayUse: caller === undefined ? () => true : createMayUse(rightsOf(configuration)),
    isDeprecated: (operation) => deprecations.ofOperations.has(operation),
  });
  const { leftOut } = await toolbox.selection();
  const { tools, isSearched, pages } = await toolbox.listOf(caller ?? EVERYONE);
  const listBytes = Buffer.byteLength(pages.join(','));
  return {
    mode: isSearched ? 'search' : 'list',
    tools: tools.map((tool) => {
      const bytes = Buffer.byteLength(definitionText(tool));
      const { losses } = tool.source.schemas();
      return { name: tool.name, operation: tool.operation.id, bytes, tokens: tokensOf(bytes), losses };
    }),
    list_bytes: listBytes,
    list_tokens: tokensOf(listBytes),
    left_out: leftOut.map(({ operation, reason }) => ({ operation: operation.id, reason })),
  };
}

/** Stands for a caller with every right. */
const EVERYONE = {} as Caller;

function tokensOf(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
