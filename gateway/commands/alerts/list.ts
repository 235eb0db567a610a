// `gateway alerts list`: alerts, silences and receivers of the running gateways.

import type { Command } from 'commander';
import type { AlertsReport } from '../../alerts/report.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine, printTable } from '../print.ts';

export function addList(alerts: Command, context: CommandContext): void {
  alerts
    .command('list')
    .description('show alerts, silences and receivers, of the gateway on this machine and all that share its Redis')
    .option('--json', 'print one JSON object')
    .action(({ json }: { readonly json?: true }) => list(context, json === true));
}

async function list(context: CommandContext, asJson: boolean): Promise<void> {
  const { origin, ask } = context.adminClient();
  const answer = await ask('GET', '/alerts');
  if (answer === undefined) return context.fail(`No gateway answers at ${origin}.`);
  if (answer.status !== 200)
    return context.fail(
      `The gateway at ${origin} answered ${answer.status}: ${answer.body.error ?? 'no reason given'}`,
    );
  const report = answer.body as unknown as AlertsReport;
  if (asJson) return printJson(context, report);
  if (!report.configured) return printLine(context, 'No alerts are configured: gateway.yaml has no "alerts".');
  const rows = report.alerts.map(({ id, state, severity, since, silent, told, cause }) => [
    ...[id, state, severity, since, silent ? 'silent' : told.join(', '), cause],
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
