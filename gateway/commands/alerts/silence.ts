// `gateway alerts silence`: keeps alerts about causes back for a time, or tells them again.

import type { Command } from 'commander';
import { isCausePattern } from '../../alerts/settings.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { parseDurationMs } from '../read.ts';

const MIN_MS = 60_000;
const MAX_MS = 30 * 86_400_000;

interface Flags {
  readonly for?: string;
  readonly end?: true;
  readonly reason?: string;
  readonly json?: true;
}

export function addSilence(alerts: Command, context: CommandContext): void {
  alerts
    .command('silence')
    .description('keep alerts about causes back for a time; the audit log notes it')
    .argument('<causes>', 'id of a cause, as "alerts list" shows it; * stands for any text')
    .option('--for <duration>', 'from 1m to 30d, such as 30m, 2h, 1d')
    .option('--end', 'end the silence')
    .option('--reason <text>', 'for the audit log')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway alerts silence "upstream orders live" --for 2h --reason "moves to other machines"\n  gateway alerts silence "upstream orders live" --end\n\nNeeds the secret admin_token, or the token of an operator who may act in GATEWAY_OPERATOR_TOKEN: the audit log then names\nthe operator. On loopback it needs none as long as no token may act. With --server it needs a key with gateway:alerts:write.',
    )
    .action((causes: string, flags: Flags) => silence(context, causes, flags));
}

async function silence(context: CommandContext, causes: string, flags: Flags): Promise<void> {
  if (!isCausePattern(causes)) return context.usage(`No cause has an id such as ${causes}. "alerts list" shows them.`);
  const seconds = secondsIn(context, flags);
  const alerts = await context.actions('alerts');
  const until = await alerts.silence(causes, seconds, flags.reason ?? '');
  if (flags.json) printJson(context, { causes, until });
  else if (until === null) printLine(context, `Alerts about ${causes} are not silent any more.`);
  else printLine(context, `Alerts about ${causes} are silent until ${until}.`);
}

/** 0 ends the silence. */
function secondsIn({ usage }: CommandContext, { for: duration, end }: Flags): number {
  if (end !== undefined && duration !== undefined) return usage('Give either --for or --end.');
  if (end !== undefined) return 0;
  if (duration === undefined) return usage('Say how long with --for, such as --for 2h, or --end.');
  const ms = parseDurationMs(duration) ?? Number.NaN;
  return ms >= MIN_MS && ms <= MAX_MS
    ? Math.round(ms / 1000)
    : usage(`--for "${duration}" is not a duration from 1m to 30d, such as 30m, 2h, 1d.`);
}
