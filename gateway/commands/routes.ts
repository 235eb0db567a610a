// `gateway routes`: lists the operations that are served.

import type { Command } from 'commander';
import { routeRow } from '../serving/route-rows.ts';
import type { CommandContext } from './context.ts';
import { printJson, printTable } from './print.ts';

export function addRoutesCommand(program: Command, context: CommandContext): void {
  program
    .command('routes')
    .description('list the operations that are served')
    .option('--json', 'print one JSON array')
    .addHelpText('after', '\nExample:\n  gateway routes')
    .action((options: { json?: boolean }) => routes(context, options.json === true));
}

async function routes(context: CommandContext, asJson: boolean): Promise<void> {
  const { config, contracts } = await context.configuration('check');
  const rows = contracts.operations.map(({ operation }) => routeRow(operation, config.limits));
  if (asJson) printJson(context, rows);
  else {
    const heads = ['METHOD', 'PATH', 'OPERATION', 'SCOPES', 'LIMITS', 'UPSTREAM'];
    printTable(
      context,
      heads,
      rows.map((row) => [
        row.method,
        row.path,
        row.operation,
        row.scopes.join(' ') || (row.public ? 'public' : '-'),
        row.limits.join(' '),
        row.upstream,
      ]),
    );
  }
}
