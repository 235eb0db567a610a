// `gateway limits …`: shows, resets and simulates limits. `reset` resets the counters of an organization.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { addShow } from './show.ts';
import { addSimulate } from './simulate/simulate.ts';

export function addLimitsCommands(program: Command, context: CommandContext): void {
  const limits = program
    .command('limits')
    .description('show and reset the use of limits, simulate limits on recorded requests');
  addShow(limits, context);
  addReset(limits, context);
  addSimulate(limits, context);
}

interface ResetFlags {
  readonly org: string;
  readonly json?: true;
}

function addReset(limits: Command, context: CommandContext): void {
  limits
    .command('reset')
    .description('reset the counters of an organization; running gateways follow within a second')
    .requiredOption('--org <organization>', 'id of the organization')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway limits reset --org org_acme')
    .action(async ({ org, json }: ResetFlags) => {
      const limits = await context.actions('limits');
      const report = await limits.reset(org);
      if (json) printJson(context, report);
      else printLine(context, `Reset the counters of ${org}: all its limits are unused again.`);
    });
}
