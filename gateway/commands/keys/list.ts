// `gateway keys list`: lists keys with their state and last use.

import type { Command } from 'commander';
import { keyToJson } from '../../auth/key-json.ts';
import type { StoredKey } from '../../auth/store/stored-key.ts';
import type { CommandContext } from '../context.ts';
import { addPartOptions, firstOf, limitIn, type PartFlags, printNextPart } from '../part.ts';
import { printJson } from '../print.ts';
import { printKeys } from './print.ts';

interface ListFlags extends PartFlags {
  readonly org?: string;
  readonly lastFour?: string;
  readonly json?: true;
}

export function addKeysList(keys: Command, context: CommandContext): void {
  const list = keys
    .command('list')
    .description('list keys, oldest first')
    .option('--org <organization>', 'only keys of one organization')
    .option('--last-four <characters>', 'only keys with this visible end, such as AbCd, …AbCd or a whole key');
  addPartOptions(list, 'key')
    .option('--json', 'print one JSON array')
    .addHelpText('after', '\nExample:\n  gateway keys list --org org_acme\n  gateway keys list --last-four AbCd')
    .action((flags: ListFlags) => listKeys(context, flags));
}

async function listKeys(context: CommandContext, flags: ListFlags): Promise<void> {
  const { org: organization, lastFour, after, json } = flags;
  const ending = lastFour === undefined ? undefined : requireEnding(context, lastFour);
  const limit = limitIn(context, flags, json === undefined);
  const keys = await context.actions('keys');
  const { items, hasMore } = await firstOf(matching(keys.list({ organization, after }), ending), limit);
  const nowMs = context.now();
  if (json) {
    printJson(
      context,
      items.map((record) => keyToJson(record, nowMs)),
    );
    return;
  }
  printKeys(context, items);
  const { id: lastId } = items.at(-1) ?? {};
  if (hasMore && lastId !== undefined) printNextPart(context, ['keys list', ...againOf(flags)], lastId);
}

/** Returns the options of this list, for the command that prints its next part. */
function againOf({ org, lastFour, limit }: ListFlags): string[] {
  const options = { org, 'last-four': lastFour, limit };
  return Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]));
}

async function* matching(pages: AsyncIterable<readonly StoredKey[]>, ending: string | undefined) {
  for await (const page of pages)
    yield ending === undefined ? page : page.filter(({ lastFour }) => lastFour === ending);
}

/** Returns the last four characters of a text that was copied from a log or a message. Ends the command if it cannot be a key. */
function requireEnding(context: CommandContext, text: string): string {
  const [, ending] = /([A-Za-z0-9]{4})$/.exec(text.trim()) ?? [];
  if (ending === undefined) context.usage(`--last-four "${text}" does not end with four letters or digits.`);
  return ending;
}
