// `gateway status`: what needs attention, and the upstreams, of the gateway that runs on this machine and those that share its Redis.

import type { Command } from 'commander';
import type { CausesReport } from '../../alerts/causes-report.ts';
import type { StatusForCauses, UpstreamReport } from '../../console/cause.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine, printTable } from '../print.ts';
import { askRunning } from '../running-gateway.ts';
import { printCauses } from './print-causes.ts';

export function addStatusCommand(program: Command, context: CommandContext): void {
  program
    .command('status')
    .description('show what needs attention, and the state of each upstream (exit code 1 if something fails)')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nAsks the gateway on this machine for the causes of all that share its Redis; the upstreams are as this one sees them.',
    )
    .action(({ json }: { readonly json?: true }) => status(context, json === true));
}

async function status(context: CommandContext, asJson: boolean): Promise<void> {
  const { causes } = (await askRunning(context, '/causes')) as unknown as CausesReport;
  const { lifecycle, upstreams = {} } = (await askRunning(context, '/status')) as StatusForCauses;
  if (asJson) printJson(context, { lifecycle, causes, upstreams });
  else {
    printCauses(context, causes);
    printLine(context, '');
    printTable(context, ['upstream', 'targets', 'breaker', 'credential'], Object.entries(upstreams).map(rowOf));
  }
  if (causes.some(({ severity }) => severity === 'failure')) context.fail();
}

function rowOf([name, { targets = [], breaker = {}, credential = '' }]: [string, UpstreamReport]): string[] {
  const told = targets.map(({ address, mode, state, last_error: error }) =>
    [`${address} (${mode})`, state, ...(error ? [`(${error})`] : [])].join(' '),
  );
  const breakers = Object.entries(breaker).map(([mode, state]) => `${mode} ${state}`);
  return [name, told.join(', '), breakers.join(', '), credential];
}
