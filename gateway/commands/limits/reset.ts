// `gateway limits reset`: resets the counters of an organization.

import type { Command } from 'commander';
import type { ResetReport } from '../../limits/usage.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { withUsage } from './usage.ts';

interface ResetFlags {
  readonly org: string;
  readonly json?: true;
}

async function reset(context: CommandContext, organization: string): Promise<ResetReport | undefined> {
  if (context.remote !== undefined) return (await context.remote.actions()).records.resetLimits(organization);
  return withUsage(context, (usage) => usage.reset(organization, context.actor));
}

export function addReset(limits: Command, context: CommandContext): void {
  limits
    .command('reset')
    .description('reset the counters of an organization; running gateways follow within a second')
    .requiredOption('--org <organization>', 'id of the organization')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway limits reset --org org_acme')
    .action(async ({ org, json }: ResetFlags) => {
      const report = await reset(context, org);
      if (report === undefined) context.fail(`There is no organization ${org}.`);
      if (json) printJson(context, report);
      else printLine(context, `Reset the counters of ${org}: all its limits are unused again.`);
    });
}
