// `gateway alerts list`: causes, alerts, silences and receivers of the running gateways.

import type { Command } from 'commander';
import type { AlertsReport } from '../../alerts/report.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine, printTable } from '../print.ts';
import { printCauses } from '../status/print-causes.ts';

export function addList(alerts: Command, context: CommandContext): void {
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
    ...[alert.silent ? 'silent' : alert.told.join(', '), alert.cause],
  ]);
  printTable(context, ['cause', 'state', 'severity', 'since', 'told', 'text'], rows);
  printLine(context, '');
  printTable(
    context,
    ['receiver', 'kind', 'state', 'last message', 'reason'],
    Object.entries(report.receivers).map(([name, { kind, state, last_message_at: at, reason }]) => [
      ...[name, kind, state, at ?? '', reason ?? ''],
    ]),
  );
  if (report.silences.length === 0) return;
  printLine(context, '');
  const silences = report.silences.map(({ causes, until, by, reason }) => [causes, until, by, reason]);
  printTable(context, ['silent', 'until', 'by', 'reason'], silences);
}

function stateOf({ state, quiet_since: since, resolved_at: at }: AlertsReport['alerts'][number]): string {
  return since === null ? state : `was firing, quiet since ${since}, told as resolved at ${at}`;
}
