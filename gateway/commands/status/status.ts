// The command `gateway status`: prints the causes that need attention and the upstreams, of a running gateway and of the gateways that
// share its Redis.

import type { Command } from 'commander';
import type { UpstreamReport } from '../../console/causes/cause.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine, printTable, shortTime } from '../print.ts';
import { printHistory } from './history.ts';
import { printCauses } from './print-causes.ts';

export function addStatusCommand(program: Command, context: CommandContext): void {
  program
    .command('status')
    .description('show causes that need attention, and the state of each upstream (exit code 1 if something fails)')
    .option(
      '--history',
      'list instead what happened in the last days: failures and warnings with begin and end, starts, reloads',
    )
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nAsks the gateway on this machine, or at --server, for the causes of all that share its Redis; the upstreams are as this\none sees them.\n\nExamples:\n  gateway status\n  gateway status --history\n  gateway --server https://api.example.com status',
    )
    .action(({ json, history }: { readonly json?: true; readonly history?: true }) =>
      history === true ? printHistory(context, json === true) : status(context, json === true),
    );
}

async function status(context: CommandContext, asJson: boolean): Promise<void> {
  const [alerts, states] = [await context.actions('alerts'), await context.actions('upstreams')];
  const { causes } = await alerts.report();
  const { lifecycle, upstreams } = await states.states();
  if (asJson) printJson(context, { lifecycle, causes, upstreams });
  else {
    printCauses(context, causes, suspectsAmong(upstreams));
    printLine(context, '');
    printTable(context, ['upstream', 'targets', 'breaker', 'credential'], Object.entries(upstreams).map(rowOf));
  }
  if (causes.some(({ severity }) => severity === 'failure')) context.fail();
}

function rowOf([name, { targets = [], breaker = {}, credential }]: [string, UpstreamReport]): string[] {
  const told = targets.map((target) => {
    const { address, mode, last_error: error } = target;
    return [`${address} (${mode})`, shownState(target), ...(error ? [`(${error})`] : [])].join(' ');
  });
  const breakers = Object.entries(breaker).map(([mode, state]) => `${mode} ${state}`.trim());
  return [name, told.join(', '), breakers.join(', '), credential ?? ''];
}

/**
 * A target is suspect if its last request failed. This is not a cause yet, because one failure may be chance, but the state must not say
 * that such a target works. The page of the console shows the same (console/page/states.js).
 */
type Target = NonNullable<UpstreamReport['targets']>[number];

/** Returns the state of a target, for people. A target is `not asked` before the first request and the first health check. */
function shownState({ state, last_error: error, answered_at: at, last_check: check }: Target): string {
  if (state !== 'healthy') return state;
  if (error) return 'suspect';
  if (at) return `healthy, answered at ${shortTime(Date.parse(at))}`;
  return at === null && check == null ? 'not asked yet' : state;
}

/** Returns the names of the upstreams with such a target. */
function suspectsAmong(upstreams: Readonly<Record<string, UpstreamReport>>): string[] {
  const isSuspect = (target: Target) => shownState(target) === 'suspect';
  return Object.keys(upstreams).filter((name) => upstreams[name]?.targets?.some(isSuspect));
}
