// Prints an exchange for people, with the verdict first and then one block per stage. Names the path that a request without an operation
// may have meant.

import type { LogLine } from '../../explain/log-line.ts';
import type { ExchangeReport, OperatorReport, StageReport } from '../../explain/report.ts';
import { hasFailed } from '../../shared/failed-requests.ts';
import { closest } from '../../shared/mistakes.ts';
import { durationText } from '../../shared/text.ts';
import type { CommandContext } from '../context.ts';
import { printLine } from '../print.ts';

const STAGE_WIDTH = 'authenticate'.length;
const OUTCOME_WIDTH = 'not reached'.length;
const DURATION_WIDTH = '100.5 ms'.length;

export function printReport(
  context: Pick<CommandContext, 'write'>,
  { request_id, time, verdict, stages, record, next }: ExchangeReport & Partial<OperatorReport>,
): void {
  printLine(context, `${request_id}${time === undefined ? '' : `, ${time}`}`);
  printLine(context, verdict);
  printLine(context, '');
  for (const stage of stages) for (const line of linesOf(stage, record)) printLine(context, line);
  const runbook = next?.runbook === undefined ? [] : [`runbook ${next.runbook} in docs/operations.md`];
  const client = next?.client === undefined ? [] : [`the client: ${next.client}`];
  const steps = [...(next?.commands ?? []), ...client, ...runbook];
  if (steps.length > 0) printLine(context, '');
  if (next?.cause !== undefined) printLine(context, `Now:  ${next.cause}`);
  for (const [index, step] of steps.entries()) printLine(context, `${index === 0 ? 'Next: ' : '      '}${step}`);
}

function linesOf(report: StageReport, logged: LogLine | undefined): string[] {
  const { stage, told, duration_ms: durationMs } = report;
  const outcome = wordOf(report, logged);
  const duration = durationMs === undefined ? '' : durationText(durationMs);
  const head = `${stage.padEnd(STAGE_WIDTH)}  ${outcome.padEnd(OUTCOME_WIDTH)}  ${duration.padStart(DURATION_WIDTH)}`;
  const indent = ' '.repeat(head.length);
  const [first = '', ...more] = told;
  return [`${head}  ${first}`.trimEnd(), ...more.map((line) => `${indent}  ${line}`)];
}

/** Returns the word for the outcome of a stage. The words are those of the verdict: a service fails, and the gateway refuses. */
function wordOf({ outcome }: StageReport, logged: LogLine | undefined): string {
  return outcome === 'refused' && logged !== undefined && hasFailed(logged) ? 'failed' : outcome;
}

/** Edits of a misspelt path. */
const EDITS_MAX = 2;

/** Returns the most similar route with the same number of segments; undefined if the request has an operation, or no route is similar. */
export function nearRoute({ code, path }: LogLine, routes: Iterable<string>): string | undefined {
  if (code !== 'route_not_found' || typeof path !== 'string') return undefined;
  const parts = path.split('/');
  // Any value fits where a route has a parameter.
  const fillRoute = (route: string) =>
    route
      .split('/')
      .map((part, index) => (part.startsWith('{') ? parts[index] : part))
      .join('/');
  const known = new Map(
    [...routes].filter((route) => route.split('/').length === parts.length).map((route) => [fillRoute(route), route]),
  );
  return known.get(closest(path, [...known.keys()], EDITS_MAX) ?? '');
}
