// `gateway init --from`: fetches the document of a service, writes it and an entry for it, checks the configuration, tries the service, and
// prints the way to the first request.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { parseDocument } from 'yaml';
import { ConfigError } from '../../config-errors.ts';
import type { Configuration } from '../../configuration.ts';
import type { Operation } from '../../operation.ts';
import { shownPath } from '../../shared/yaml-source.ts';
import { visibleLine } from '../../visible-text.ts';
import { addCheckCommand } from '../check.ts';
import { type CommandContext, CommandFailure, createCommandContext } from '../context.ts';
import { printLine, printText } from '../print.ts';
import type { Answered } from '../upstreams/backend.ts';
import { addUpstreamsCommands } from '../upstreams/upstreams.ts';
import { type FetchedDocument, fetchDocument } from './fetch-document.ts';
import { firstRequest } from './first-request.ts';
import { basePathOf, liveOf, nameOf, type ProposedEntry, securityOf, sharesNames } from './propose-entry.ts';
import { withEntry } from './upstreams-text.ts';

export interface AddServiceFlags {
  readonly from: string;
  readonly name?: string | undefined;
  readonly live?: string | undefined;
}

/** Where the configuration is. */
export interface Directories {
  readonly config: string;
  readonly contracts: string;
}

/** A service that is ready to be written. */
export interface ProposedService {
  readonly name: string;
  readonly entry: ProposedEntry;
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

const EXECUTABLE = shownPath(fileURLToPath(new URL('../../../bin/gateway', import.meta.url)));
const NAMED_MAX = 3;
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Fetches the document and proposes its file and entry. Ends the command if there is no document, no address or no free name.
 *
 * @param upstreamsText text of upstreams.yaml, if it is written in the same step; undefined: it is read
 */
export async function proposeService(
  context: CommandContext,
  directories: Directories,
  { from, name: named, live: givenLive }: AddServiceFlags,
  upstreamsText: string | undefined,
): Promise<ProposedService> {
  const document = await fetchDocument(from).catch((error: Error) => context.fail(error.message));
  await refuseFiles(context, document);
  const name = named ?? nameOf(document);
  if (name === undefined) return context.usage('The title of the document gives no name. Choose one with --name.');
  if (!NAME.test(name))
    return context.usage('--name must be letters, digits, hyphens and underscores, beginning with a letter.');
  const live = givenLive ?? liveOf(document);
  if (live === undefined)
    return context.usage('The document names no address of the service. Give it with --live http://host:port.');
  const path = join(directories.config, 'upstreams.yaml');
  const text = upstreamsText ?? (await readFile(path, 'utf8'));
  if (parseDocument(text).hasIn(['upstreams', name]))
    return context.fail(`${shownPath(path)} has an entry "${name}" already. Choose another name with --name.`);
  const file = `${name}.${document.extension}`;
  if (existsSync(join(directories.contracts, file)))
    return context.fail(
      `${shownPath(join(directories.contracts, file))} exists already. Choose another name with --name.`,
    );
  const served = upstreamsText === undefined ? await operationsServed(context, directories) : [];
  const paths = served.map(({ path }) => path);
  const basePath = basePathOf(name, document, paths);
  const isQualified = sharesNames(
    document,
    served.map(({ id }) => id),
  );
  const entry: ProposedEntry = {
    contracts: [file],
    live,
    ...(basePath && { basePath }),
    ...(isQualified && { operationNames: 'qualified' }),
    security: securityOf(name),
  };
  const extended = withEntry(text, name, entry);
  if (extended === undefined)
    return context.fail(
      `${shownPath(path)} is written in a form that no entry can be added to, and nothing was written. Correct what "gateway check" names in it, or add the entry yourself: ${JSON.stringify({ [name]: entry })}`,
    );
  const files = [
    { path: join(directories.contracts, file), text: document.text },
    { path, text: extended },
  ];
  return { name, entry, files };
}

/** A document that was fetched must be whole: what it refers to would be read on this machine. */
async function refuseFiles(context: CommandContext, { text, extension, url }: FetchedDocument): Promise<void> {
  if (url === undefined) return;
  const { fileReferencesIn } = await import('../../contract/fetched.ts');
  // What is no OpenAPI document at all, `check` names with its line.
  const files = await fileReferencesIn(text, extension).catch(() => []);
  if (files.length === 0) return;
  const named = visibleLine(files.slice(0, NAMED_MAX).join(', ')) + (files.length > NAMED_MAX ? ', …' : '');
  context.fail(
    `${url.href} refers to files (${named}), and a fetched document has none. Bundle it into one document, and add that.`,
  );
}

/** The operations that the configuration serves; none if it has a mistake, which `check` names afterwards. */
async function operationsServed(context: CommandContext, directories: Directories): Promise<Operation[]> {
  const around = contextOf(context, directories);
  try {
    const { contracts } = await around.configuration();
    return contracts.operations.map(({ operation }) => operation);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  } finally {
    await around.close();
  }
}

/**
 * Runs `check` and `upstreams try` on the written configuration, and prints the commands up to the first request. Ends the command with exit
 * code 1 if `check` finds a mistake.
 */
export async function tryService(
  context: CommandContext,
  directories: Directories,
  { name, entry }: ProposedService,
): Promise<void> {
  printText(context, '\n$ bin/gateway check');
  if (!(await runAlso(addCheckCommand, ['check'], contextOf(context, directories))))
    return context.fail(`The document and the entry "${name}" are written. Mend what check names, then run it again.`);
  printText(context, `\n$ bin/gateway upstreams try ${name}`);
  let answers: readonly Answered[] = [];
  const addTrial = (program: Command, around: CommandContext) =>
    addUpstreamsCommands(program, around, (all) => {
      answers = all;
    });
  await runAlso(addTrial, ['upstreams', 'try', name], contextOf(context, directories));
  const around = contextOf(context, directories);
  const configuration = await around.configuration();
  await around.close();
  const path = firstRequest(answers) ?? firstPath(configuration, name);
  for (const line of nextSteps(context, directories, configuration, path, entry)) printLine(context, line);
}

/** Runs another command in this process. Returns whether it succeeded. */
async function runAlso(
  add: (program: Command, context: CommandContext) => void,
  words: readonly string[],
  context: CommandContext,
): Promise<boolean> {
  const program = new Command().exitOverride();
  add(program, context);
  try {
    await program.parseAsync(words, { from: 'user' });
    return true;
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    if (error.message !== '') printLine(context, error.message);
    return false;
  } finally {
    await context.close();
  }
}

/** The same process, on this configuration. */
function contextOf(context: CommandContext, { config, contracts }: Directories): CommandContext {
  const environment = { ...context.environment, GATEWAY_CONFIG: config, GATEWAY_CONTRACTS: contracts };
  return createCommandContext({ ...context, environment });
}

function nextSteps(
  context: CommandContext,
  { config, contracts }: Directories,
  configuration: Configuration,
  path: string,
  { security }: ProposedEntry,
): string[] {
  const settings = context.settings();
  const isOwn = config !== settings.configDirectory || contracts !== settings.contractsDirectory;
  // A service that only reads has no operation that needs the scope for writing, and no key can be made with it.
  const scopes = [...security.read, ...security.write].filter((scope) => configuration.contracts.scopes.has(scope));
  const { publicUrl } = configuration.config.gateway;
  const url = shellWord(publicUrl + path);
  return [
    '',
    'The first request:',
    ...(isOwn ? [`  export GATEWAY_CONFIG=${shownPath(config)} GATEWAY_CONTRACTS=${shownPath(contracts)}`] : []),
    `  ${EXECUTABLE} start &`,
    `  ${EXECUTABLE} orgs create --id org_first --name First --tier standard`,
    `  KEY=$(${EXECUTABLE} keys create --org org_first --mode live --scopes ${scopes.join(' ')} --json | sed 's/.*"key":"\\([^"]*\\)".*/\\1/')`,
    // All lines may be pasted at once: the gateway may still be starting.
    `  curl -i --retry 9 --retry-connrefused ${url} -H "Authorization: Bearer $KEY"`,
  ];
}

/** The line is made to be pasted, and the path is the document's: nothing in it may be a command. */
function shellWord(url: string): string {
  const encoded = url.replace(/[^!-~]|'/gu, (character) =>
    character === "'" ? '%27' : encodeURIComponent(character.toWellFormed()),
  );
  return `'${encoded}'`;
}

/** The path of an operation that needs no parameter, if there is one. */
function firstPath({ contracts }: Configuration, name: string): string {
  const reading = contracts.operations.filter(
    ({ operation }) => operation.upstream === name && operation.method === 'GET',
  );
  const plain = reading.find(
    ({ operation, parameters }) => !operation.path.includes('{') && !parameters.some(isRequired),
  );
  return (plain ?? reading[0] ?? contracts.operations[0])?.operation.path ?? '/';
}

function isRequired({ value }: { readonly value: unknown }): boolean {
  return (value as { required?: unknown }).required === true;
}
