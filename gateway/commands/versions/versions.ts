// `gateway versions …`: lists deprecations and the callers of deprecated operations. `list` lists versions, and operations with their own
// deprecation dates.

import type { Command } from 'commander';
import { deprecationsOf } from '../../versions/deprecation.ts';
import { deprecationJson, deprecationState } from '../../versions/report.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printTable } from '../print.ts';
import { addUsage } from './version-usage.ts';

export function addVersionsCommands(program: Command, context: CommandContext): void {
  const versions = program
    .command('versions')
    .description('show deprecations of versions, and the callers of deprecated operations');
  addVersionsList(versions, context);
  addUsage(versions, context);
}

function addVersionsList(versions: Command, context: CommandContext): void {
  versions
    .command('list')
    .description('list versions and deprecated operations with their states and dates')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway versions list')
    .action(async ({ json }: { json?: true }) => {
      const { config, contracts } = await context.configuration();
      const operations = contracts.operations.map(({ operation }) => operation);
      const { gateway } = config;
      const names = new Set([...operations.flatMap(({ version }) => version ?? []), ...Object.keys(gateway.versions)]);
      const all = [...names].sort().map((version) => ({
        version,
        state: deprecationState(gateway.versions[version] ?? {}, context.now()),
        operations: operations.filter((operation) => operation.version === version).length,
        ...datesOf(gateway.versions[version] ?? {}),
      }));
      const { ofOperations } = deprecationsOf(operations, gateway, gateway.publicUrl);
      const own = [...ofOperations.values()]
        .filter(({ operation }) => gateway.operations[operation.id] !== undefined)
        .map((deprecation) => ({
          ...deprecationJson(deprecation),
          state: deprecationState(deprecation, context.now()),
        }));
      if (json) return printJson(context, { versions: all, operations: own });
      const rows = [
        ...all.map(({ version, ...rest }) => [version, ...cellsOf(rest)]),
        ...own.map(({ operation, ...rest }) => [operation, ...cellsOf(rest)]),
      ];
      printTable(context, ['version or operation', 'state', 'deprecated', 'sunset', 'successor', 'guide'], rows);
    });
}

type Dates = {
  readonly [name in 'released' | 'deprecated' | 'sunset' | 'successor' | 'guide']?: string | null | undefined;
};

function datesOf({ released, deprecated, sunset, successor, guide }: Dates) {
  return {
    released: released ?? null,
    deprecated: deprecated ?? null,
    sunset: sunset ?? null,
    successor: successor ?? null,
    guide: guide ?? null,
  };
}

function cellsOf({ state, deprecated, sunset, successor, guide }: Dates & { readonly state: string }): string[] {
  return [state, deprecated ?? '', sunset ?? '', successor ?? '', guide ?? ''];
}
