// `gateway keys list`: lists keys with their state and last use.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { printJson } from '../print.ts';
import { keyToJson, printKeys } from './print.ts';

interface ListFlags {
  readonly org?: string;
  readonly lastFour?: string;
  readonly json?: true;
}

export function addKeysList(keys: Command, context: CommandContext): void {
  keys
    .command('list')
    .description('list keys, oldest first')
    .option('--org <organization>', 'only keys of one organization')
    .option('--last-four <characters>', 'only keys with this visible end, such as AbCd, …AbCd or a whole key')
    .option('--json', 'print one JSON array')
    .addHelpText('after', '\nExample:\n  gateway keys list --org org_acme\n  gateway keys list --last-four AbCd')
    .action(async ({ org: organization, lastFour, json }: ListFlags) => {
      const ending = lastFour === undefined ? undefined : requireEnding(context, lastFour);
      const { store } = await context.keyStore();
      if (organization !== undefined && (await store.organizations.get(organization)) === undefined) {
        context.fail(`There is no organization ${organization}.`);
      }
      const all = await store.keys.list({ organization });
      const records = ending === undefined ? all : all.filter((key) => key.lastFour === ending);
      if (!json) return printKeys(context, records);
      const nowMs = context.now();
      printJson(
        context,
        records.map((record) => keyToJson(record, nowMs)),
      );
    });
}

/** The last four characters of what was copied from a log or a message. */
function requireEnding(context: CommandContext, text: string): string {
  const [, ending] = /([A-Za-z0-9]{4})$/.exec(text.trim()) ?? [];
  if (ending === undefined) context.usage(`--last-four "${text}" does not end with four letters or digits.`);
  return ending;
}
