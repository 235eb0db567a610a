// `gateway contract lint`: prints mistakes and recommendations for contracts, before they are served.

import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { contractsOf } from '../../config/contract-sources.ts';
import { loadConfig } from '../../config/load.ts';
import type { Configuration } from '../../configuration.ts';
import { impossibleSchemas } from '../../contract/lint/impossible-schemas.ts';
import { recommendationsFor } from '../../contract/lint/style-recommendations.ts';
import { unfitValues } from '../../contract/lint/unfit-values.ts';
import type { KnownNames } from '../../contract/operations/extensions.ts';
import { type DocumentDefaults, operationsOf } from '../../contract/operations/operations.ts';
import type { JsonObject } from '../../contract/pointer.ts';
import { type ContractDocument, createDirectReader, toDocument } from '../../contract/reading/document.ts';
import { compileAll } from '../../contract/schemas/compile.ts';
import { createSchemas } from '../../contract/schemas/schemas.ts';
import { ConfigError, condense, type Mistake, toSentence } from '../../shared/mistakes.ts';
import { positionsIn } from '../../shared/yaml-source.ts';
import type { CommandContext } from '../context.ts';
import { countText, printJson, printLine } from '../print.ts';
import { directoryOf, filesOf, UnreadableSource } from './read.ts';

interface LintResult {
  readonly files: number;
  readonly mistakes: readonly Mistake[];
  readonly recommendations: readonly Mistake[];
}

export function addLint(contract: Command, context: CommandContext): void {
  contract
    .command('lint')
    .description('list mistakes (exit code 1) and recommendations for contracts')
    .argument('[files...]', 'files, directories or globs; without them, all served contracts')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway contract lint openapi/v1/jobs.yaml')
    .action(async (sources: readonly string[], { json }: { json?: true }) => {
      printResult(
        context,
        sources.length > 0 ? await lintFiles(context, sources) : await lintServed(context),
        json === true,
      );
    });
}

/** Checks the served contracts together with the configuration. */
async function lintServed(context: CommandContext): Promise<LintResult> {
  try {
    const configuration = await context.configuration('check');
    const { contracts } = configuration;
    const recommendations = await recommendationsOf(contracts.documents, context, configuration);
    return { files: contracts.documents.length, mistakes: [], recommendations };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { files: 0, mistakes: error.mistakes, recommendations: [] };
  }
}

/**
 * Checks single files. If an entry of upstreams.yaml lists the file, its settings apply, such as `security`. Otherwise the upstream of the
 * file is unknown, and with it the scopes that exist.
 */
async function lintFiles(context: CommandContext, sources: readonly string[]): Promise<LintResult> {
  const mistakes: Mistake[] = [];
  const files = sources.flatMap((source) => {
    try {
      return filesOf(source);
    } catch (error) {
      if (error instanceof UnreadableSource) return context.usage(error.message);
      throw error;
    }
  });
  const entryOf = entriesOfFiles(context);
  const documents = [];
  for (const file of files) {
    const content = await createDirectReader(directoryOf(file, context)).readContract(file, mistakes);
    if (content === undefined) continue;
    const document = toDocument(file, content);
    documents.push(document);
    const { defaults, known } = entryOf(file) ?? withoutEntry(content.root);
    const operations = [...operationsOf(document, defaults, known, mistakes)];
    if (!content.isBroken) await compileAll(operations, createSchemas(), mistakes);
  }
  for (const document of documents) await document.position().locate(async (file, spots) => positionsIn(file, spots));
  return {
    files: files.length,
    mistakes: condense(mistakes),
    recommendations: await recommendationsOf(
      documents,
      context,
      await context.configuration('check').catch(() => undefined),
    ),
  };
}

function withoutEntry(root: JsonObject): FileEntry {
  const known = { upstreams: [String(root['x-gateway-upstream'] ?? '')], limits: undefined };
  return { defaults: { upstream: 'any', acceptsBasic: true, hasNoEntry: true }, known };
}

/**
 * Returns the rules that the gateway checks less strictly than the documents read, and then recommendations on style.
 *
 * @param configuration undefined if it has mistakes; whether it serves the files does not matter
 */
async function recommendationsOf(
  documents: readonly ContractDocument[],
  context: CommandContext,
  configuration: Configuration | undefined,
): Promise<Mistake[]> {
  const secured = configuration === undefined ? new Set() : securedBy(configuration);
  const schemas = createSchemas();
  const ofSchemas = documents.flatMap((document) => [
    ...impossibleSchemas(document),
    ...unfitValues(document, schemas),
  ]);
  for (const document of documents) await document.position().locate(async (file, spots) => positionsIn(file, spots));
  const all: Mistake[] = [...documents.flatMap(({ warnings }) => warnings), ...ofSchemas];
  for (const [file] of documents.map(({ files }) => files as [string]))
    all.push(...(await recommendationsFor(file, directoryOf(file, context), secured.has(resolve(file)))));
  return condense(all);
}

/** Returns the files whose entries have `security`. */
function securedBy({ config: { upstreams }, contracts }: Configuration): Set<string> {
  const secured = contracts.operations.filter(({ operation }) => {
    const { security, public: isPublic } = upstreams[operation.upstream] ?? {};
    return security !== undefined || isPublic === true;
  });
  return new Set(secured.map(({ document }) => resolve(document.files[0] as string)));
}

function printResult(context: CommandContext, { files, mistakes, recommendations }: LintResult, asJson: boolean): void {
  if (asJson) printJson(context, { ok: mistakes.length === 0, files, mistakes, recommendations });
  else {
    for (const one of recommendations) printLine(context, `recommended: ${toSentence(one)}`);
    if (mistakes.length === 0)
      printLine(
        context,
        `${countText(files, 'contract')} without mistakes, ${countText(recommendations.length, 'recommendation')}.`,
      );
    for (const mistake of mistakes) context.complain(`${toSentence(mistake)}\n`);
  }
  if (mistakes.length > 0) context.fail(`${countText(mistakes.length, 'mistake')}.`);
}

interface FileEntry {
  readonly defaults: DocumentDefaults;
  readonly known: KnownNames;
}

/**
 * Returns a function that finds the entry of a file in upstreams.yaml; it returns undefined if no entry lists the file. Ignores mistakes of
 * the configuration, because `check` reports them.
 */
function entriesOfFiles({ settings, environment }: CommandContext): (file: string) => FileEntry | undefined {
  const { configDirectory, contractsDirectory } = settings();
  const { sources, known } = contractsOf(loadConfig(configDirectory, environment, []));
  const entries = new Map<string, FileEntry>();
  for (const { contracts, ...defaults } of sources)
    for (const file of globSync(contracts, { cwd: contractsDirectory }))
      entries.set(resolve(contractsDirectory, file), { defaults, known });
  return (file) => entries.get(resolve(file));
}
