// After a change at a remote gateway: which of its instances have put it in force, as the answer counts them.

import type { InForceCounts } from '../../administration/client/records.ts';
import type { ChangeFlags, ChangeResult } from '../confirmations.ts';
import type { CommandContext } from '../context.ts';
import { counted, printJson, printLine, shortSeconds } from '../print.ts';

/** Longest time that an operation of the contract waits. */
const WAIT_MAX_MS = 15_000;

/** Whole seconds for the contract; undefined without --wait. Ends the command if they are more than it allows. */
export function waitSecondsOf(context: CommandContext, { wait }: ChangeFlags, timeoutMs: number): number | undefined {
  if (!wait) return undefined;
  if (timeoutMs > WAIT_MAX_MS)
    context.usage(`A remote gateway waits ${WAIT_MAX_MS / 1000} s at most: lower --timeout.`);
  return Math.max(1, Math.ceil(timeoutMs / 1000));
}

/** Prints the change and, with `--wait`, how many gateways have put it in force. Exits with 1 if one has not. */
export function tellInForce(
  context: CommandContext,
  { json }: ChangeFlags,
  counts: InForceCounts | undefined,
  { object, sentence }: ChangeResult,
): void {
  const inForce = counts && {
    in_force: { confirmed: counts.confirmed, unconfirmed: counts.unconfirmed, waited_ms: counts.waitedMs },
  };
  if (json) printJson(context, { ...object, ...inForce });
  else printLine(context, sentence);
  if (counts === undefined) return;
  const text = toText(counts);
  if (counts.unconfirmed > 0) context.fail(`${text}\nThe change itself stays in any case.`);
  if (!json) printLine(context, text);
}

function toText({ confirmed, unconfirmed, waitedMs }: InForceCounts): string {
  const all = confirmed + unconfirmed;
  const time = shortSeconds(waitedMs);
  if (unconfirmed === 0) return `Confirmed by ${counted(all, 'running gateway')} within ${time}.`;
  return `${unconfirmed} of ${counted(all, 'gateway')} did not confirm it within ${time}.`;
}
