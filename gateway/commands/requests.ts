// The command `gateway requests`: lists recent requests, such as those that fail, of the gateway on this machine and of the gateways that
// share its Redis.

import type { Command } from 'commander';
import type { ExchangeRow } from '../console/exchanges.ts';
import { durationText } from '../shared/text.ts';
import { absenceText, complaintOf } from './admin-client.ts';
import type { CommandContext } from './context.ts';
import { printJson, printLine, printTable, shortTime } from './print.ts';
import { parseCount, parseDurationMs, parseMoment } from './read.ts';

interface RequestsFlags {
  readonly failed?: true;
  readonly status?: string;
  readonly code?: string;
  readonly operation?: string;
  readonly upstream?: string;
  readonly org?: string;
  readonly slow?: string;
  readonly since?: string;
  readonly limit: string;
  readonly json?: true;
}

/** The members of the answer that are read here. */
interface ListedRequests {
  readonly exchanges: readonly ExchangeRow[];
  readonly here: string;
  /** The names of the instances that did not answer. */
  readonly without: readonly string[];
}

const LIMIT_MAX = 200;

export function addRequestsCommand(program: Command, context: CommandContext): void {
  program
    .command('requests')
    .description('list recent requests, such as those that fail, the newest first')
    .option('--failed', 'only requests that a service failed or the gateway refused: 4xx and 5xx')
    .option('--status <status>', 'only requests with this status, such as 502 or 5xx')
    .option('--code <code>', 'only requests with this error code')
    .option(
      '--operation <operation>',
      "only requests for this operation, as operationId or as 'GET /v1/customers/{id}'",
    )
    .option('--upstream <upstream>', 'only requests for operations of this upstream')
    .option('--org <organization>', 'only requests of this organization')
    .option('--slow <duration>', 'only requests that took at least this long, in milliseconds or as 2s')
    .option('--since <time>', 'only requests since this time: an ISO time, or 15m, 24h')
    .option('--limit <count>', `how many, at most ${LIMIT_MAX}`, '20')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      "\nA gateway remembers requests for minutes to hours, refused ones longer; its log has all of them.\n\nExamples:\n  gateway requests --failed\n  gateway requests --failed --operation 'GET /v1/customers' --since 15m\n  gateway requests --slow 2s --upstream billing",
    )
    .action((flags: RequestsFlags) => requests(context, flags));
}

async function requests(context: CommandContext, flags: RequestsFlags): Promise<void> {
  if (context.remote?.isNamed)
    return context.usage(
      'The contract lists only requests of one organization: give the command without --server, on the machine of a gateway.',
    );
  const client = context.adminClient();
  const answer = await client.ask('GET', `/console/exchanges?${queryOf(context, flags)}`);
  if (answer === undefined) return context.fail(absenceText(client));
  if (answer.status !== 200) return context.fail(complaintOf(client, answer));
  const { exchanges, here, without } = answer.body as unknown as ListedRequests;
  const rows = exchanges.map((row) => ({ ...row, instance: row.instance ?? here }));
  if (flags.json) return printJson(context, { requests: rows, without });
  printTable(
    context,
    ['ended', 'request', 'operation', 'status', 'code', 'duration', 'organization', 'instance'],
    rows.map(cellsOf),
  );
  const [latest] = rows;
  if (latest !== undefined || without.length > 0) printLine(context, '');
  if (latest !== undefined) printLine(context, `Next: bin/gateway explain ${latest.request_id}`);
  if (without.length > 0) printLine(context, `Without ${without.join(', ')}, which did not answer.`);
}

function queryOf(context: CommandContext, flags: RequestsFlags): URLSearchParams {
  const { failed, status, code, operation, upstream, org, slow, since, limit } = flags;
  if (failed && status !== undefined) context.usage('Give --failed or --status.');
  const minMs = slow === undefined ? undefined : (parseDurationMs(slow) ?? Number(slow));
  if (Number.isNaN(minMs)) context.usage(`--slow "${slow}" is not a duration: write 500 for milliseconds, or 2s.`);
  const fromMs = since === undefined ? undefined : parseMoment(since, context.now(), -1);
  if (since !== undefined && fromMs === undefined)
    context.usage(`--since "${since}" is not a time: write 15m, 24h or an ISO time.`);
  if (parseCount(limit, LIMIT_MAX) === undefined) context.usage(`--limit is a number from 1 to ${LIMIT_MAX}.`);
  const given = {
    instance: 'all',
    status: failed ? 'failed' : status,
    code,
    [operation?.includes(' ') ? 'operation' : 'operation_id']: operation,
    upstream,
    organization: org,
    min_ms: minMs,
    from: fromMs === undefined ? undefined : new Date(fromMs).toISOString(),
    limit,
  };
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return new URLSearchParams(known.map(([name, value]): [string, string] => [name, String(value)]));
}

function cellsOf(row: ExchangeRow & { readonly instance: string }): string[] {
  const { at, request_id: id, operation, path, status, code, duration_ms: durationMs, organization, client } = row;
  return [
    shortTime(Date.parse(at)),
    id,
    path === null ? operation : `${operation} ${path}`,
    String(status),
    code ?? '',
    durationText(durationMs),
    organization ?? client ?? '',
    row.instance,
  ];
}
