// `gateway limits reset`: resets the counters of an organization.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';

interface ResetFlags {
  readonly org: string;
  readonly json?: true;
}

export function addReset(limits: Command, context: CommandContext): void {
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
