// `gateway contract publish`: writes the current contracts as the published contracts, which later contracts must not break.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import type { Configuration } from '../../configuration.ts';
import { changesBetween, changeText, recordPublications } from '../../contract/diff/publications.ts';
import { publishedContracts } from '../../contract/merged/groups.ts';
import type { Publication, PublishedContract } from '../../shared/contracts/published-contract.ts';
import { entryOfUpstream } from '../../shared/contracts/upstreams.ts';
import { shownPath } from '../../shared/file-text.ts';
import { suggest } from '../../shared/mistakes.ts';
import { deprecationsOf } from '../../versions/deprecation.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';

export function addPublish(contract: Command, context: CommandContext): void {
  contract
    .command('publish')
    .description('publish the current contracts: from now on, no change may break their clients')
    .argument(
      '[names...]',
      'published documents: v1 for paths that begin with /v1, otherwise the name of the upstream; without them, all',
    )
    .option(
      '--note <text>',
      'what the changes mean for clients, in a sentence or two: the documentation shows it first',
    )
    .option('--json', 'print one JSON array')
    .addHelpText(
      'after',
      '\nWrites one file per version into publishedContracts of gateway.yaml, and adds to changes.jsonl there what changes for clients: the\ndocumentation shows it. Keep them in version control.\n\nExample:\n  gateway contract publish --note "Invoices have a due date."\n  gateway contract publish billing',
    )
    .action(async (names: readonly string[], { note, json }: { note?: string; json?: true }) => {
      // Creates the directory before the first publication, because loading the configuration needs it.
      const { contractsDirectory, directory } = publishedIn(context) ?? context.fail(NO_PLACE);
      mkdirSync(directory, { recursive: true });
      const configuration = await context.configuration('check');
      const written: {
        readonly name: string;
        readonly file: string;
        readonly operations: number;
        readonly changed: boolean;
      }[] = [];
      const record: Publication[] = [];
      const texts = new Map<string, string>();
      // Server address "/", because the public address differs between gateways.
      for (const published of chooseContracts(context, names, publishedContractAt(configuration, '/'))) {
        const file = join(directory, `${published.name}.json`);
        const text = await textOfPublished(published);
        const before = textOf(file);
        const changed = before !== text;
        if (changed) {
          const { name, operations } = published;
          const changes = changesBetween(before, text, file, configuration.config.breaking);
          // A publication that changes only descriptions is not recorded, because clients need not read about it.
          if (before === undefined || changes.length > 0)
            record.push({
              day: new Date(context.now()).toISOString().slice(0, 10),
              contract: name,
              operations: operations.length,
              ...(note === undefined ? {} : { note }),
              changes,
            });
          texts.set(file, text);
        }
        written.push({ name: published.name, file: shownPath(file), operations: published.operations.length, changed });
      }
      writePublication(directory, texts, record);
      if (json) return printJson(context, written);
      for (const { name, file, operations, changed } of written) {
        printLine(context, `${file}: ${changed ? 'promised' : 'as before'}, ${operations} operations of ${name}.`);
        for (const line of changeLines(record.find(({ contract }) => contract === name))) printLine(context, line);
      }
      if (written.some(({ changed }) => changed))
        printLine(context, `Keep them in version control, beside ${shownPath(contractsDirectory)}.`);
    });
}

/** The documents with these names; all if no name is given. */
function chooseContracts(
  { usage }: CommandContext,
  names: readonly string[],
  all: PublishedContract[],
): PublishedContract[] {
  const known = all.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const holding = all.filter(({ operations }) =>
      operations.some(({ upstream }) => entryOfUpstream(upstream) === unknown),
    );
    if (holding.length === 0) usage(`There is no document "${unknown}". ${suggest(unknown, known)}`);
    const those = holding.map(({ name }) => name);
    const begin = those.map((name) => `/${name}`).join(' and ');
    usage(
      `The operations of "${unknown}" are in ${those.join(' and ')}, because their paths begin with ${begin}. Run "gateway contract publish ${those.join(' ')}".`,
    );
  }
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

/**
 * Writes the contracts and their record. If the disk is full, no contract is written, because a contract without its record would hide its
 * changes from the documentation for good.
 */
function writePublication(directory: string, texts: ReadonlyMap<string, string>, record: readonly Publication[]): void {
  const temporaryName = (file: string) => `${file}.new`;
  try {
    for (const [file, text] of texts) writeFileSync(temporaryName(file), text);
    recordPublications(directory, record);
    for (const file of texts.keys()) renameSync(temporaryName(file), file);
  } finally {
    for (const file of texts.keys()) rmSync(temporaryName(file), { force: true });
  }
}

/** The largest number of changes that are printed; changes.jsonl contains all. */
const PRINTED_MAX = 20;

/** Lists the changes since the last publication of the contract. */
function changeLines({ changes }: Pick<Publication, 'changes'> = { changes: [] }): string[] {
  const lines = changes.slice(0, PRINTED_MAX).map((change) => `  ${changeText(change)}.`);
  const more = changes.length - lines.length;
  return more > 0 ? [...lines, `  and ${more} more changes, which changes.jsonl has.`] : lines;
}

export const NO_PLACE = 'gateway.yaml names no publishedContracts. Add "publishedContracts: published" there.';

/** Returns the directory of the published contracts; undefined if gateway.yaml names none. */
export function publishedIn({ settings, environment }: CommandContext) {
  const { configDirectory, contractsDirectory } = settings();
  // Ignores mistakes, because loading the whole configuration reports them.
  const published = loadConfig(configDirectory, environment, []).gateway?.publishedContracts;
  return published === undefined ? undefined : { contractsDirectory, directory: join(contractsDirectory, published) };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns the contracts in the form in which they are published. @param server the server address in the documents */
export function publishedContractAt({ config, contracts }: Configuration, server: string): PublishedContract[] {
  const operations = contracts.operations.map(({ operation }) => operation);
  const { ofOperations } = deprecationsOf(operations, config.gateway, config.gateway.publicUrl);
  return publishedContracts(contracts.operations, {
    serverOf: () => server,
    isDeprecated: (operation) => ofOperations.has(operation),
    title: config.gateway.portal.title,
  });
}

/** Returns the text of the document, with line breaks. */
export async function textOfPublished({ json }: PublishedContract): Promise<string> {
  return toJsonText(JSON.parse((await json()).toString('utf8')));
}

export function toJsonText(root: unknown): string {
  return `${JSON.stringify(root, null, 2)}\n`;
}
