// `gateway keys list`: lists keys with their state and last use.

import type { Command } from 'commander';
import { keyToJson } from '../../auth/key-json.ts';
import type { KeyStore, StoredKey } from '../../auth/store/key-store.ts';
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
  const pages = await pagesOf(context, organization, after);
  const { items, hasMore } = await firstOf(matching(pages, ending), limit);
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

async function pagesOf(context: CommandContext, organization: string | undefined, after: string | undefined) {
  if (context.remote !== undefined) {
    const { keys } = await context.remote.actions();
    return behind(context, keys.list(organization), after);
  }
  const { store } = await context.keyStore();
  if (organization !== undefined && (await store.organizations.get(organization)) === undefined)
    context.fail(`There is no organization ${organization}.`);
  if (after !== undefined) await requireKey(context, store, after, organization);
  return store.keys.scan({ organization, after });
}

/** The keys of a remote gateway behind one of them: its contract goes on from pages only. */
async function* behind(
  { fail }: CommandContext,
  pages: AsyncIterable<readonly StoredKey[]>,
  after: string | undefined,
) {
  let isBehind = after === undefined;
  for await (const page of pages) {
    const at = isBehind ? -1 : page.findIndex(({ id }) => id === after);
    if (!isBehind && at === -1) continue;
    isBehind = true;
    yield page.slice(at + 1);
  }
  if (!isBehind) fail(`There is no key ${after} to go on behind.`);
}

/** The options of a list, for its next part. */
function againOf({ org, lastFour, limit }: ListFlags): string[] {
  const options = { org, 'last-four': lastFour, limit };
  return Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]));
}

async function* matching(pages: AsyncIterable<readonly StoredKey[]>, ending: string | undefined) {
  for await (const page of pages)
    yield ending === undefined ? page : page.filter(({ lastFour }) => lastFour === ending);
}

async function requireKey(
  { fail }: CommandContext,
  { keys }: KeyStore,
  id: string,
  organization: string | undefined,
): Promise<void> {
  const key = await keys.get(id);
  if (key === undefined) return fail(`There is no key ${id} to go on behind.`);
  if (organization !== undefined && key.organization !== organization) fail(`${id} is no key of ${organization}.`);
}

/** The last four characters of what was copied from a log or a message. */
function requireEnding(context: CommandContext, text: string): string {
  const [, ending] = /([A-Za-z0-9]{4})$/.exec(text.trim()) ?? [];
  if (ending === undefined) context.usage(`--last-four "${text}" does not end with four letters or digits.`);
  return ending;
}
