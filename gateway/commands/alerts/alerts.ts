// The command group `gateway alerts`. `list` lists causes, alerts, silences and receivers of the running gateways. `silence` begins or ends
// a silence. `test` sends a trial message.

import type { Command } from 'commander';
import type { AlertsReport } from '../../alerts/report.ts';
import { isCausePattern } from '../../alerts/settings.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine, printTable } from '../print.ts';
import { parseDurationMs } from '../read.ts';
import { printCauses } from '../status/print-causes.ts';
import { addTrial } from './trial.ts';

export function addAlertsCommands(program: Command, context: CommandContext): void {
  const alerts = program.command('alerts').description('show and silence alerts about causes, and try their receivers');
  addList(alerts, context);
  addSilence(alerts, context);
  addTrial(alerts, context);
}

function addList(alerts: Command, context: CommandContext): void {
  alerts
    .command('list')
    .description('show causes, alerts, silences and receivers, of a running gateway and all that share its Redis')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExamples:\n  gateway alerts list\n  gateway --server https://api.example.com alerts list')
    .action(({ json }: { readonly json?: true }) => list(context, json === true));
}

async function list(context: CommandContext, asJson: boolean): Promise<void> {
  const alerts = await context.actions('alerts');
  const report = await alerts.report();
  if (asJson) return printJson(context, report);
  printCauses(context, report.causes);
  printLine(context, '');
  if (!report.configured)
    return printLine(context, 'No receiver is told of them: gateway.yaml has no "alerts" (docs/alerts.md).');
  const rows = report.alerts.map((alert) => [
    ...[alert.id, stateOf(alert), alert.severity, alert.since],
    ...[alert.silent ? 'silent' : alert.told.join(', ') || 'not told yet', alert.cause],
  ]);
  printTable(context, ['cause', 'state', 'severity', 'since', 'told', 'text'], rows);
  printLine(context, '');
  printTable(
    context,
    ['receiver', 'kind', 'state', 'last delivered', 'reason'],
    Object.entries(report.receivers).map(
      ([name, { kind, state, last_message_at: at, failing_since: since, reason }]) => [
        ...[name, kind, since === null ? state : `${state} since ${since}`, at ?? 'none delivered', reason ?? ''],
      ],
    ),
  );
  if (report.silences.length === 0) return;
  printLine(context, '');
  const silences = report.silences.map(({ causes, until, by, reason }) => [causes, until, by, reason]);
  printTable(context, ['silent', 'until', 'by', 'reason'], silences);
}

function stateOf({ state, quiet_since: since, resolved_at: at }: AlertsReport['alerts'][number]): string {
  return since === null ? state : `was firing, quiet since ${since}, told as resolved at ${at}`;
}

const MIN_MS = 60_000;
const MAX_MS = 30 * 86_400_000;

interface Flags {
  readonly for?: string;
  readonly end?: true;
  readonly reason?: string;
  readonly json?: true;
}

function addSilence(alerts: Command, context: CommandContext): void {
  alerts
    .command('silence')
    .description('silence alerts about causes for a time; the audit log records it')
    .argument('<causes>', 'id of a cause, from "alerts list"; * stands for any text')
    .option('--for <duration>', 'duration of the silence: from 1m to 30d, such as 30m, 2h, 1d')
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

/** Returns the length of the silence in seconds; 0 ends it. */
function secondsIn({ usage }: CommandContext, { for: duration, end }: Flags): number {
  if (end !== undefined && duration !== undefined) return usage('Give either --for or --end.');
  if (end !== undefined) return 0;
  if (duration === undefined) return usage('Say how long with --for, such as --for 2h, or --end.');
  const ms = parseDurationMs(duration) ?? Number.NaN;
  return ms >= MIN_MS && ms <= MAX_MS
    ? Math.round(ms / 1000)
    : usage(`--for "${duration}" is not a duration from 1m to 30d, such as 30m, 2h, 1d.`);
}
