// `gateway routes`: lists the operations that are served.

import type { Command } from 'commander';
import { type RouteRow, routeRows } from '../serving/route-rows.ts';
import { suggest } from '../shared/mistakes.ts';
import type { CommandContext } from './context.ts';
import { bodyAt, orInForce } from './or-in-force.ts';
import { printJson, printTable } from './print.ts';

export function addRoutesCommand(program: Command, context: CommandContext): void {
  program
    .command('routes')
    .description('list the served operations')
    .option('--upstream <name>', 'only the operations of this entry of upstreams.yaml')
    .option('--json', 'print one JSON array')
    .addHelpText(
      'after',
      '\nThe operations of the gateway itself come last.\n\nExamples:\n  gateway routes\n  gateway routes --upstream platform',
    )
    .action((flags: RoutesFlags) => routes(context, flags));
}

interface RoutesFlags {
  readonly upstream?: string;
  readonly json?: true;
}

async function routes(context: CommandContext, { upstream: wanted, json: asJson }: RoutesFlags): Promise<void> {
  const { upstreams, all } = await orInForce(
    context,
    async () => {
      const configuration = await context.configuration('check');
      return { upstreams: Object.keys(configuration.config.upstreams), all: routeRows(configuration) };
    },
    async (client) => {
      const { routes } = (await bodyAt(context, client, '/console/routes')) as { readonly routes: RouteRow[] };
      return { upstreams: [...new Set(routes.map(({ upstream }) => upstream))], all: routes };
    },
  );
  if (wanted !== undefined && !upstreams.includes(wanted))
    context.usage(`There is no upstream "${wanted}" in upstreams.yaml. ${suggest(wanted, upstreams)}`);
  const rows = all.filter(({ upstream }) => wanted === undefined || upstream === wanted);
  if (asJson) printJson(context, rows);
  else {
    const heads = ['METHOD', 'PATH', 'OPERATION', 'SCOPES', 'LIMITS', 'UPSTREAM'];
    printTable(
      context,
      heads,
      rows.map((row) => [
        row.method,
        row.path,
        row.operation,
        row.scopes.join(' ') || (row.public ? 'public' : '-'),
        row.limits.join(' '),
        row.upstream,
      ]),
    );
  }
}
