// The options `--limit` and `--after` for a part of a long list, and the line that says how to continue.

import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import { printLine } from './print.ts';
import { parseCount } from './read.ts';

export interface PartFlags {
  readonly limit?: string;
  readonly after?: string;
}

/** The limit of a list for people, who do not read more at once. Programs get all records unless they set a limit. */
const LIMIT_OF_TABLES = 1000;
const LIMIT_MAX = 100_000;

/** Adds the options `--limit` and `--after`. @param what the records, in the singular */
export function addPartOptions(command: Command, what: string): Command {
  return command
    .option('--limit <count>', `the most to list, up to ${LIMIT_MAX}; default: ${LIMIT_OF_TABLES}, with --json all`)
    .option('--after <id>', `continue after this ${what}, the last one of the previous part`);
}

/** Returns the limit of a list; undefined if there is none. */
export function limitIn({ usage }: CommandContext, { limit }: PartFlags, isTable: boolean): number | undefined {
  if (limit === undefined) return isTable ? LIMIT_OF_TABLES : undefined;
  return parseCount(limit, LIMIT_MAX) ?? usage(`--limit ${limit} is not a number from 1 to ${LIMIT_MAX}.`);
}

/** Collects at most `limit` records, and says whether there are more. */
export async function firstOf<Item>(
  pages: AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>,
  limit: number | undefined,
): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
  const items: Item[] = [];
  for await (const page of pages) {
    for (const item of page) {
      if (items.length === limit) return { items, hasMore: true };
      items.push(item);
    }
  }
  return { items, hasMore: false };
}

/** Prints the command that lists the next part. @param command its words */
export function printNextPart(context: CommandContext, command: readonly string[], lastId: string): void {
  printLine(context, `There are more: gateway ${command.join(' ')} --after ${lastId}`);
}
