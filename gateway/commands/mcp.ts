// The command `gateway mcp tools`: lists the tools for agents, all or those that one caller may use.

import type { Command } from 'commander';
import { toCaller } from '../auth/to-caller.ts';
import type { Caller } from '../exchange/caller.ts';
import { type ToolReport, toolReport } from '../serving/tool-report.ts';
import type { CommandContext } from './context.ts';
import { countText, printJson, printLine, printTable } from './print.ts';

interface ToolsFlags {
  readonly key?: string;
  readonly json?: boolean;
}

export function addMcpCommands(program: Command, context: CommandContext): void {
  const mcp = program.command('mcp').description('tools of the endpoint for agents');
  mcp
    .command('tools')
    .description('list the tools for agents, with their sizes')
    .option('--key <id>', 'only the tools for the owner of this key')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway mcp tools --key key_4fGh…')
    .action((flags: ToolsFlags) => tools(context, flags));
}

async function tools(context: CommandContext, { key, json }: ToolsFlags): Promise<void> {
  const configuration = await context.configuration('serve');
  const report = await toolReport(configuration, key === undefined ? undefined : await callerOf(context, key));
  if (report === undefined) return context.fail('There is no endpoint for agents: gateway.yaml has no block mcp.');
  if (json) return printJson(context, report);
  const rows = report.tools.map(({ name, operation, bytes, tokens }) => [
    name,
    operation,
    String(bytes),
    String(tokens),
  ]);
  printTable(context, ['TOOL', 'OPERATION', 'BYTES', 'TOKENS'], rows);
  for (const line of reportLines(report)) printLine(context, line);
}

async function callerOf(context: CommandContext, id: string): Promise<Caller> {
  const { store } = await context.keyStore();
  const key = await store.keys.get(id);
  if (key === undefined) return context.fail(`There is no key ${id}.`);
  const organization = await store.organizations.get(key.organization);
  if (organization === undefined) return context.fail(`There is no organization ${key.organization}.`);
  return toCaller({ key, organization });
}

/** Returns the lines about all tools together, for `check` and `mcp tools`. */
export function reportLines({ mode, tools, list_bytes, list_tokens, left_out }: ToolReport): string[] {
  const how = mode === 'search' ? 'Agents search them, by three tools: the list has' : 'The list has';
  const losses = tools.flatMap(({ name, losses }) => losses.map((loss) => `The tool ${name} cannot say ${loss}.`));
  return [
    ...left_out.map(({ operation, reason }) => `${operation} is no tool: ${reason}.`),
    ...losses,
    `${countText(tools.length, 'tool')}. ${how} ${list_bytes} bytes, about ${list_tokens} tokens.`,
  ];
}
