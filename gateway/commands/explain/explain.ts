// `gateway explain`: explains a recorded request stage by stage, or simulates one.

import type { Command } from 'commander';
import type { ExplainedRequest } from '../../administration/actions.ts';
import { exchangeReport } from '../../explain/report.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { explainRequest, type RehearseFlags } from './explain-request.ts';
import { findInLogs } from './find.ts';
import { nearRoute, printReport } from './print.ts';

interface ExplainFlags extends RehearseFlags {
  readonly log?: readonly string[];
}

export function addExplainCommand(program: Command, context: CommandContext): void {
  program
    .command('explain')
    .description('explain what happened to a request, stage by stage, or simulate one')
    .argument('[id]', 'request id, or the X-Request-Id that the client sent')
    .option('--log <files...>', 'access logs to search; may end in .gz; - for standard input')
    .option(
      '--request <line>',
      'a request to simulate: method and target; nothing is sent, spent or written; exit code 1 if it is refused',
    )
    .option('--header <line>', 'a header of the simulated request, as Name: value; may be repeated', collect)
    .option('--body <file>', 'file with the body of the simulated request')
    .option('--org <organization>', 'the caller: any key of this organization')
    .option('--key <id>', 'the caller: this key')
    .option('--mode <mode>', 'live or test; default: the mode of the key, or live')
    .option('--scopes <scopes...>', "scopes of the caller; default: the scopes of the key, or '*'")
    .option('--session', 'with --org: the caller is a person who has signed in with a browser')
    .option('--client <address>', "the client's address, for keys that are restricted to addresses")
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  gateway explain req_01KAXYZ --log access.ndjson',
        "  gateway explain --request 'GET /v1/customers?limit=500' --org org_acme",
      ].join('\n'),
    )
    .action((id: string | undefined, flags: ExplainFlags) => explain(context, id, flags));
}

function collect(line: string, before: readonly string[] = []): readonly string[] {
  return [...before, line];
}

async function explain(context: CommandContext, id: string | undefined, flags: ExplainFlags): Promise<void> {
  const { log, json, request } = flags;
  if ((id === undefined) === (request === undefined)) return context.usage('Name a request id, or a --request.');
  if (context.remote?.isNamed && (log ?? request) !== undefined)
    return context.usage('The contract explains requests by their ids: give --log and --request without --server.');
  if (request !== undefined) return explainRequest(context, request, flags);
  if (id === undefined) return;
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(id))
    context.usage('This is not a request id: use 1 to 128 letters, digits, dots, hyphens or underscores.');
  const reports = log === undefined ? await readRemembered(context, id) : await readLogged(context, log, id);
  if (json) return printJson(context, { exchanges: reports });
  for (const [index, report] of reports.entries()) {
    if (index > 0) printLine(context, '');
    printReport(context, report);
    const meant = await meantRoute(context, report);
    if (meant !== undefined) printLine(context, `Did you mean ${meant}?`);
    for (const line of [report.remedy, report.doc_url]) if (line) printLine(context, line);
  }
}

async function readRemembered(context: CommandContext, id: string): Promise<readonly ExplainedRequest[]> {
  const requests = await context.actions('requests');
  return requests.explain(id);
}

async function readLogged(
  context: CommandContext,
  paths: readonly string[],
  id: string,
): Promise<readonly ExplainedRequest[]> {
  const found = await findInLogs(context, paths, id);
  return found.length > 0
    ? found.map((line) => exchangeReport(line))
    : context.fail(`No exchange ${id} is in ${paths.join(', ')}.`);
}

/** Returns the route that was probably meant; undefined if the configuration has mistakes. */
async function meantRoute(context: CommandContext, { record }: ExplainedRequest): Promise<string | undefined> {
  if (record?.code !== 'route_not_found' || context.remote?.isNamed) return undefined;
  const contracts = await context.configuration().then(
    (known) => known.contracts,
    () => undefined,
  );
  return nearRoute(record, contracts?.operations.map(({ operation }) => operation.path) ?? []);
}
