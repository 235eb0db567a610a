// After a change: waits until every running gateway has put it in force, and reports the gateways that have not.

import type { Command } from 'commander';
import {
  awaitConfirmations,
  type Confirmations,
  type ReportedInstance,
  SILENT_MS,
} from '../administration/confirmations.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import type { CommandContext } from './context.ts';
import { counted, printJson, printLine, shortSeconds, shortTime, timeOrNull } from './print.ts';
import { parseDurationMs } from './read.ts';

export interface ChangeFlags {
  readonly wait?: true;
  readonly timeout: string;
  readonly json?: true;
}

/** The result of a change: as an object for programs, as a sentence for people. */
export interface ChangeResult {
  readonly object: object;
  readonly sentence: string;
}

export function addChangeOptions(command: Command): Command {
  return command
    .option('--wait', 'wait until every running gateway has applied the change; exit code 1 if one has not confirmed')
    .option('--timeout <duration>', 'longest time to wait', '10s')
    .option('--json', 'print one JSON object');
}

/** Parses `--timeout` to milliseconds. Ends the command unless it is a duration. */
export function requireTimeout(context: CommandContext, { timeout }: ChangeFlags): number {
  const timeoutMs = parseDurationMs(timeout);
  if (timeoutMs === undefined) context.usage(`--timeout "${timeout}" is not a duration such as 10s or 2m.`);
  return timeoutMs;
}

/** Prints the change and, with `--wait`, the confirmations. Exits with 1 if a gateway has not confirmed. */
export async function tellChange(
  context: CommandContext,
  store: KeyStore,
  { wait, json }: ChangeFlags,
  timeoutMs: number,
  { object, sentence }: ChangeResult,
): Promise<void> {
  const waiting = wait && awaitConfirmations(store, timeoutMs);
  const confirmations = waiting && (await orSay(context, { object, sentence }, json, waiting));
  const nowMs = context.now();
  if (json) printJson(context, { ...object, ...(confirmations && toJson(confirmations, nowMs)) });
  else printLine(context, sentence);
  if (confirmations === undefined) return;
  const text = toText(confirmations, nowMs);
  if (confirmations.unconfirmed.length > 0) context.fail(`${text}\nThe change itself stays in any case.`);
  if (!json) printLine(context, text);
}

/** If waiting fails, the message still confirms that the change itself was made, and the object is printed: it may hold a new key. */
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

function toJson({ waitedMs, confirmed, unconfirmed }: Confirmations, nowMs: number) {
  const reportedToJson = ({ id, host, pid, silentMs }: ReportedInstance) => ({
    id,
    host,
    pid,
    silent_ms: Math.round(silentMs),
  });
  return {
    waited_ms: Math.round(waitedMs),
    confirmed: confirmed.map(reportedToJson),
    unconfirmed: unconfirmed.map((one) => ({
      ...reportedToJson(one),
      grace_ends_at: timeOrNull(graceEndOf(one, nowMs)),
    })),
  };
}

/** One sentence if all have confirmed; otherwise one line per gateway that has not, with its meaning. */
function toText({ waitedMs, confirmed, unconfirmed }: Confirmations, nowMs: number): string {
  const all = confirmed.length + unconfirmed.length;
  if (all === 0) return 'No gateway is running on this store.';
  const time = shortSeconds(waitedMs);
  if (unconfirmed.length === 0) return `Confirmed by ${counted(all, 'running gateway')} within ${time}.`;
  const lines = unconfirmed.map((one) => `  ${one.host}, pid ${one.pid}: ${meaningOf(one, nowMs)}`);
  return [`${unconfirmed.length} of ${counted(all, 'gateway')} did not confirm it within ${time}:`, ...lines].join(
    '\n',
  );
}

function meaningOf(one: ReportedInstance, nowMs: number): string {
  const silence = `silent for ${shortSeconds(one.silentMs)}.`;
  if (one.silentMs <= SILENT_MS) return `${silence} It is behind; ask again.`;
  const until = shortTime(graceEndOf(one, nowMs));
  return `${silence} It is gone, or cut off from the store and may let known keys in until ${until}.`;
}

function graceEndOf({ silentMs, graceMs }: ReportedInstance, nowMs: number): number {
  return nowMs - silentMs + graceMs;
}
