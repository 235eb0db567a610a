// Prints what happened lately, for `gateway status --history`: failures and warnings with their start and end, starts of processes, reloads
// and deaths.

import type { GatewayEvent } from '../../console/history/gateway-event.ts';
import { absenceText, complaintOf } from '../admin-client.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine, printTable, shortTime } from '../print.ts';

/** The members of the feed that are read here. */
interface Feed {
  readonly events: readonly (GatewayEvent & { readonly instance?: string })[];
  /** The same, with one line for an outage that comes and goes. */
  readonly listed: Feed['events'];
  /** The names of the instances that did not answer. */
  readonly without: readonly string[];
}

/** The console calls a failure an outage in its charts. */
const KINDS: Readonly<Partial<Record<GatewayEvent['kind'], string>>> = { outage: 'failure', uncounted: 'no counts' };

export async function printHistory(context: CommandContext, asJson: boolean): Promise<void> {
  if (context.remote?.isNamed)
    return context.usage('The contract has no history: give --history without --server, on the machine of a gateway.');
  const client = context.adminClient();
  const answer = await client.ask('GET', '/console/feed?range=15m&instance=all');
  if (answer === undefined) return context.fail(absenceText(client));
  if (answer.status !== 200) return context.fail(complaintOf(client, answer));
  const { events, listed, without } = answer.body as unknown as Feed;
  const rowsOf = (shown: Feed['events']) =>
    shown.map(({ kind, subject: _, ...event }) => ({ kind: KINDS[kind] ?? kind, ...event }));
  if (asJson) return printJson(context, { history: rowsOf(events), without });
  printTable(
    context,
    ['began', 'ended', 'kind', 'what', 'instance'],
    rowsOf(listed).map(({ kind, at, until, text, instance = '' }) => [
      timeOf(at),
      endOf(at, until),
      kind,
      text,
      instance,
    ]),
  );
  if (without.length === 0) return;
  printLine(context, '');
  printLine(context, `Without ${without.join(', ')}, which did not answer.`);
}

function endOf(at: string, until: string | null): string {
  if (until === null) return 'lasts';
  return until === at ? '' : timeOf(until);
}

const timeOf = (iso: string) => shortTime(Date.parse(iso));
