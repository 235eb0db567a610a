// `gateway alerts silence`: keeps alerts about causes back for a time, or tells them again.

import type { Command } from 'commander';
import { complaintOf } from '../admin-client.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { parseDurationMs } from '../read.ts';

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
      '\nExamples:\n  gateway alerts silence "upstream orders live" --for 2h --reason "moves to other machines"\n  gateway alerts silence "upstream orders live" --end\n\nNeeds the secret admin_token, or the token of an operator who may act in GATEWAY_OPERATOR_TOKEN: the audit log then names\nthe operator. On loopback it needs none as long as no token may act.',
    )
    .action((causes: string, flags: Flags) => silence(context, causes, flags));
}

async function silence(context: CommandContext, causes: string, flags: Flags): Promise<void> {
  const client = context.adminClient();
  const seconds = flags.end ? 0 : (parseDurationMs(flags.for ?? '') ?? Number.NaN) / 1000;
  if (flags.end !== undefined && flags.for !== undefined) return context.usage('Give either --for or --end.');
  if (Number.isNaN(seconds)) return context.usage('Say how long with --for, such as --for 2h, or --end.');
  const query = { causes, seconds: String(seconds), reason: flags.reason ?? '', by: context.actor };
  const answer = await client.ask('POST', `/alerts/silence?${new URLSearchParams(query)}`);
  if (answer === undefined) return context.fail(`No gateway answers at ${client.origin}.`);
  const { status, body } = answer;
  if (status === 400) return context.usage(String(body.error));
  if (status !== 200) return context.fail(complaintOf(client, answer));
  const { silent_until: until } = body.after as { readonly silent_until: string | null };
  if (flags.json) printJson(context, { causes, until });
  else if (until === null) printLine(context, `Alerts about ${causes} are not silent any more.`);
  else printLine(context, `Alerts about ${causes} are silent until ${until}.`);
}
