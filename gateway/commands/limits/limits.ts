// `gateway limits …`: shows, resets and simulates limits. `reset` resets the counters of an organization.

import type { Command } from 'commander';
import type { ShownLimits } from '../../administration/actions.ts';
import type { LimitUse } from '../../limits/limit-usage.ts';
import { missingTierText, tierInPlaceOf } from '../../shared/missing-tier.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine, printTable, printText, shortTime } from '../print.ts';
import { addOrganizationOption } from '../server/options.ts';
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

/** Operations of an extra limit in the table. */
const OPERATIONS_SHOWN = 3;

interface ShowFlags {
  readonly org?: string;
  readonly json?: true;
}

function addShow(limits: Command, context: CommandContext): void {
  const show = limits
    .command('show')
    .description('show the current use of the limits of an organization, and their rules');
  addOrganizationOption(show, context, 'id of the organization')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway limits show --org org_acme')
    .action(async ({ org, json }: ShowFlags) => {
      const limits = await context.actions('limits');
      const report = await limits.show(org);
      if (json) printJson(context, report);
      else printReport(context, report);
    });
}

function printReport(context: CommandContext, { organization, tier, limits }: ShownLimits): void {
  const inPlace = limits.map(({ rule }) => tierInPlaceOf(tier, rule)).find((found) => found !== undefined);
  const which = inPlace === undefined ? `tier ${tier}` : missingTierText(tier, inPlace);
  printText(context, `${organization}, ${which}\n`);
  printTable(
    context,
    ['policy', 'rule', 'key', 'operations', 'limit', 'used', 'left', 'next freed at', 'state', 'place'],
    limits.map((limit) => [
      limit.policy,
      limit.rule ?? '',
      limit.key_id ?? '',
      operationsIn(limit),
      `${limit.limit} in ${limit.window_seconds} s`,
      String(limit.used),
      String(limit.remaining),
      limit.next_freed_at === null ? '' : shortTime(Date.parse(limit.next_freed_at)),
      limit.enforced ? 'enforced' : 'shadow',
      limit.rule_at ?? '',
    ]),
  );
}

function operationsIn({ operations }: Pick<LimitUse, 'operations'>): string {
  if (operations === null) return 'all';
  const more = operations.length - OPERATIONS_SHOWN;
  return `${operations.slice(0, OPERATIONS_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
