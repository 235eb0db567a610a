// `gateway keys list`: lists keys with their state and last use.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { printJson } from '../print.ts';
import { keyToJson, printKeys } from './print.ts';

interface ListFlags {
  readonly org?: string;
  readonly json?: true;
}

export function addKeysList(keys: Command, context: CommandContext): void {
  keys
    .command('list')
    .description('list keys, oldest first')
    .option('--org <organization>', 'only keys of one organization')
    .option('--json', 'print one JSON array')
    .addHelpText('after', '\nExample:\n  gateway keys list --org org_acme')
    .action(async ({ org: organization, json }: ListFlags) => {
      const { store } = await context.keyStore();
      if (organization !== undefined && (await store.organizations.get(organization)) === undefined) {
        context.fail(`There is no organization ${organization}.`);
      }
      const records = await store.keys.list({ organization });
      if (!json) return printKeys(context, records);
      const nowMs = context.now();
      printJson(
        context,
        records.map((record) => keyToJson(record, nowMs)),
      );
    });
}
