// The command `gateway usage`: shows the usage counts of an organization.

import type { Command } from 'commander';
import type { UsageRequest } from '../administration/actions.ts';
import { PERIOD_UNITS } from '../usage/periods.ts';
import { isPeriodUnit, isUsageGroup, USAGE_GROUPS, type UsageGroup } from '../usage/report.ts';
import type { CommandContext } from './context.ts';
import { printJson, printLine, printTable } from './print.ts';
import { parseMoment, splitList } from './read.ts';
import { addOrganizationOption } from './server/options.ts';

/** The names of the groups in an answer. */
const MEMBERS = { operation: 'operation_id', key: 'key_id', status_class: 'status_class' } as const;

interface UsageFlags {
  /** The organization; undefined only at a remote gateway. */
  readonly org?: string;
  readonly by: string;
  readonly from?: string;
  readonly to?: string;
  readonly group?: readonly string[];
  readonly operation?: string;
  readonly key?: string;
  readonly json?: true;
}

export function addUsageCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('usage')
    .description('show how many requests an organization has made, by hour, day or month in UTC');
  addOrganizationOption(command, context, 'id of the organization')
    .option('--by <period>', `length of a period: ${PERIOD_UNITS.join(', ')}`, 'day')
    .option(
      '--from <when>',
      'first period: 24h or 30d ago, or an ISO time; default: 24 hours, 30 days or 12 months ago',
    )
    .option('--to <when>', 'last period: 24h or 30d ago, or an ISO time; default: now')
    .option('--group <names...>', `split the counts: ${USAGE_GROUPS.join(', ')}; several with commas`)
    .option('--operation <id>', 'only calls of this operation')
    .option('--key <id>', 'only calls with this key, or of this subject of a token (issuer:subject)')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway usage --org org_acme --by day --from 7d --group operation')
    .action((flags: UsageFlags) => usage(context, flags));
}

async function usage(context: CommandContext, flags: UsageFlags): Promise<void> {
  const input = inputIn(context, flags);
  const usage = await context.actions('usage');
  const { data, complete_until } = await usage.list(input);
  if (flags.json) return printJson(context, { data, complete_until });
  const heads = ['from', ...input.groups, 'requests'];
  const rows = data.map((sum) => [
    shortPeriod(String(sum.from), input.by),
    ...input.groups.map((group) => String(sum[MEMBERS[group]] ?? '')),
    String(sum.requests),
  ]);
  printTable(context, heads, rows);
  printLine(context, `Complete until ${complete_until}.`);
}

function inputIn(context: CommandContext, flags: UsageFlags): UsageRequest {
  const { by, org: organization, operation, key } = flags;
  if (!isPeriodUnit(by)) return context.usage(`--by "${by}" is none of ${PERIOD_UNITS.join(', ')}.`);
  const names = splitList(flags.group ?? []);
  const unknown = names.find((name) => !isUsageGroup(name));
  if (unknown !== undefined) return context.usage(`--group "${unknown}" is none of ${USAGE_GROUPS.join(', ')}.`);
  const groups = USAGE_GROUPS.filter((group): group is UsageGroup => names.includes(group));
  const [fromMs, toMs] = [momentIn(context, '--from', flags.from), momentIn(context, '--to', flags.to)];
  return { organization, by, fromMs, toMs, groups, operation, key };
}

function momentIn(context: CommandContext, flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const atMs = parseMoment(text, context.now(), -1);
  if (atMs !== undefined) return atMs;
  return context.usage(`${flag} "${text}" is neither a duration such as 24h, 30d nor an ISO time.`);
}

/** Returns the part of an ISO time that names a period. */
function shortPeriod(text: string, by: UsageRequest['by']): string {
  return text.slice(0, { hour: 13, day: 10, month: 7 }[by]);
}
