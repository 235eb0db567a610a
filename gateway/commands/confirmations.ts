// The options of commands that make a change, and the printing of their result: the changed record, and with `--wait` the running gateways
// in which the change is in force.

import type { Command } from 'commander';
import type { InForceReport, MadeChange } from '../administration/actions.ts';
import type { CommandContext } from './context.ts';
import { countText, printJson, printLine, shortSeconds } from './print.ts';
import { parseDurationMs } from './read.ts';
import { requireContractWait } from './server/options.ts';

export interface ChangeFlags {
  readonly wait?: true;
  readonly timeout: string;
  readonly json?: true;
}

/** The result of a change, as an object for programs, and as a sentence for people. */
interface ChangeResult {
  readonly object: object;
  readonly sentence: string;
}

export function addChangeOptions(command: Command): Command {
  return command
    .option('--wait', 'wait until every running gateway has applied the change; exit code 1 if one has not confirmed')
    .option('--timeout <duration>', 'longest time to wait', '10s')
    .option('--json', 'print one JSON object');
}

/**
 * Returns how long to wait until the change is in force, in milliseconds; undefined without `--wait`. Ends the command if `--timeout` is
 * wrong.
 */
export function waitOf(context: CommandContext, { wait, timeout }: ChangeFlags): number | undefined {
  const timeoutMs = parseDurationMs(timeout);
  if (timeoutMs === undefined) return context.usage(`--timeout "${timeout}" is not a duration such as 10s or 2m.`);
  if (!wait) return undefined;
  requireContractWait(context, timeoutMs);
  return timeoutMs;
}

/** Prints the change and, with `--wait`, the confirmations. Exits with 1 if a gateway has not confirmed. */
export async function tellChange(
  context: CommandContext,
  { json }: ChangeFlags,
  { inForce: wait }: Pick<MadeChange<unknown>, 'inForce'>,
  { object, sentence }: ChangeResult,
): Promise<void> {
  const inForce = wait && (await orSay(context, { object, sentence }, json, wait()));
  if (json) printJson(context, { ...object, ...inForce?.json });
  else printLine(context, sentence);
  if (inForce === undefined) return;
  const text = textOf(inForce);
  if (inForce.unconfirmed > 0) context.fail(`${text}\nThe change itself stays in any case.`);
  if (!json) printLine(context, text);
}

/**
 * Resolves with the confirmations. If waiting for them fails, the command still says that the change was made, and prints the object,
 * because it may contain a new key.
 */
async function orSay<T>(
  context: CommandContext,
  { object, sentence }: ChangeResult,
  json: true | undefined,
  waiting: Promise<T>,
): Promise<T> {
  try {
    return await waiting;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (json) printJson(context, object);
    context.fail(`${sentence} Whether gateways have put it in force is unknown: ${reason}`);
  }
}

/**
 * Returns one sentence if all gateways have confirmed the change. Otherwise returns a line for each known gateway that has not confirmed
 * it.
 */
function textOf({ confirmed, unconfirmed, waitedMs, missing }: InForceReport): string {
  const all = confirmed + unconfirmed;
  if (all === 0) return 'No gateway is running on this store.';
  const time = shortSeconds(waitedMs);
  if (unconfirmed === 0) return `Confirmed by ${countText(all, 'running gateway')} within ${time}.`;
  const head = `${unconfirmed} of ${countText(all, 'gateway')} did not confirm it within ${time}`;
  return missing.length === 0 ? `${head}.` : [`${head}:`, ...missing.map((line) => `  ${line}`)].join('\n');
}
