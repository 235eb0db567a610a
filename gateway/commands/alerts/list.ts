// `gateway alerts list`: causes, alerts, silences and receivers of the running gateways.

import type { Command } from 'commander';
import type { CausesReport } from '../../alerts/causes-report.ts';
import type { AlertsReport } from '../../alerts/report.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine, printTable } from '../print.ts';
import { askRunning } from '../running-gateway.ts';
import { printCauses } from '../status/print-causes.ts';

export function addList(alerts: Command, context: CommandContext): void {
  alerts
    .command('list')
    .description(
      'show causes, alerts, silences and receivers, of the gateway on this machine and all that share its Redis',
    )
    .option('--json', 'print one JSON object')
    .action(({ json }: { readonly json?: true }) => list(context, json === true));
}

async function list(context: CommandContext, asJson: boolean): Promise<void> {
  const report = (await askRunning(context, '/alerts')) as unknown as AlertsReport;
  const { causes } = (await askRunning(context, '/causes')) as unknown as CausesReport;
  if (asJson) return printJson(context, { ...report, causes });
  printCauses(context, causes);
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
