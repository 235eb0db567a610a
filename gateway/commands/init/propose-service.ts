// Proposes a service for `gateway init --from`. Fetches its document, chooses a name, an address and scopes, and adds the entry to the text
// of upstreams.yaml.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { BASE_PATH } from '../../config/upstreams/upstreams-file.ts';
import type { Operation } from '../../exchange/operation.ts';
import { shownPath } from '../../shared/file-text.ts';
import { ConfigError, type Mistake, toSentence } from '../../shared/mistakes.ts';
import { visibleLine } from '../../shared/text.ts';
import { type CommandContext, createMachineContext } from '../context.ts';
import { onThisMachine } from '../here/actions.ts';
import { type WantedCredential, wantedCredential } from '../upstreams/wanted-credential.ts';
import { collisionsOf, prefixLines } from './collisions.ts';
import { type FetchedDocument, fetchDocument } from './fetch-document.ts';
import { healthPathOf, isHealthy } from './propose-access.ts';
import {
  basePathOf,
  liveOf,
  nameOf,
  type ProposedEntry,
  securityOf,
  sharesNames,
  takenBelow,
} from './propose-entry.ts';
import { withEntry } from './upstreams-text.ts';

export interface AddServiceFlags {
  readonly from: string;
  readonly name?: string | undefined;
  readonly live?: string | undefined;
  readonly basePath?: string | undefined;
}

/** The directories of the configuration. */
export interface Directories {
  readonly config: string;
  readonly contracts: string;
}

/** The files and the entry of a new service. */
export interface ProposedService {
  readonly name: string;
  readonly entry: ProposedEntry;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Lines that say why all paths have a prefix, and how to do without it. */
  readonly aboutPrefix: readonly string[];
  /** The credential that the service asks for, by its document. */
  readonly credential: WantedCredential | undefined;
}

const NAMED_MAX = 3;
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Fetches the document, and proposes its file and its entry. Ends the command if there is no document, no address or no free name.
 *
 * @param upstreamsText the text of upstreams.yaml, if the command writes the file in the same step; otherwise the file is read
 */
export async function proposeService(
  context: CommandContext,
  directories: Directories,
  flags: AddServiceFlags,
  upstreamsText: string | undefined,
): Promise<ProposedService> {
  const givenBasePath = flags.basePath;
  const document = await fetchDocument(flags.from).catch((error: Error) => context.fail(error.message));
  await refuseFiles(context, document);
  const { name, live } = identityOf(context, document, flags);
  const path = join(directories.config, 'upstreams.yaml');
  const text = upstreamsText ?? (await readFile(path, 'utf8'));
  if (parseDocument(text).hasIn(['upstreams', name]))
    return context.fail(
      `${shownPath(path)} has an entry "${name}" already. Choose another name with --name, or fetch its document again with --update.`,
    );
  const file = `${name}.${document.extension}`;
  if (existsSync(join(directories.contracts, file)))
    return context.fail(
      `${shownPath(join(directories.contracts, file))} exists already. Choose another name with --name.`,
    );
  const { served, mistakes } = upstreamsText === undefined ? await servedBy(context, directories) : NOTHING_SERVED;
  const paths = served.map(({ path }) => path);
  const proposed = basePathOf(name, document, paths);
  if (givenBasePath !== undefined)
    refuseTaken(context, document, { basePath: givenBasePath, proposed: `/${name}` }, paths);
  const basePath = givenBasePath ?? proposed;
  const isQualified = sharesNames(
    document,
    served.map(({ id }) => id),
  );
  const credential = wantedCredential(name, document);
  const health = await healthOf(document, live);
  const entry: ProposedEntry = {
    contracts: [file],
    live,
    test: 'examples:',
    ...(basePath && { basePath }),
    ...(isQualified && { operationNames: 'qualified' }),
    security: securityOf(name),
    ...(health.isChecked && { health: { path: health.path } }),
  };
  const comments = [
    ...(health.isChecked ? [] : [`health: { path: ${health.path} } # GET, to each target`]),
    ...(credential === undefined ? [] : [`credential: ${credential.setting} # the gateway sends it to the service`]),
  ];
  const extended = withEntry(text, name, entry, comments);
  if (extended === undefined)
    return context.fail(
      `${shownPath(path)} has a form to which no entry can be added, and nothing was written. Correct what "gateway check" names in it, or add the entry yourself: ${JSON.stringify({ [name]: entry })}`,
    );
  if (mistakes.length > 0) refuseMistakes(context, mistakes);
  const files = [
    { path: join(directories.contracts, file), text: document.text },
    { path, text: extended },
  ];
  const isProposed = givenBasePath === undefined && proposed !== undefined;
  const aboutPrefix = isProposed ? prefixLines(proposed, collisionsOf(document, served)) : [];
  return { name, entry, files, aboutPrefix, credential };
}

/** Returns the name and the address of the service. Ends the command if the flags and the document give none, or a flag is malformed. */
function identityOf(
  context: CommandContext,
  document: FetchedDocument,
  { name: named, live: givenLive, basePath }: AddServiceFlags,
): { readonly name: string; readonly live: string } {
  const name = named ?? nameOf(document);
  if (name === undefined) return context.usage('The title of the document gives no name. Choose one with --name.');
  if (!NAME.test(name))
    return context.usage('--name must be letters, digits, hyphens and underscores, beginning with a letter.');
  if (basePath !== undefined && !BASE_PATH.test(basePath))
    return context.usage('--base-path must begin with a slash and not end with one, such as /v1/orders.');
  const live = givenLive ?? liveOf(document);
  if (live === undefined)
    return context.usage('The document names no address of the service. Give it with --live http://host:port.');
  return { name, live };
}

/** Returns the path of health checks, and whether the service answers it now. */
async function healthOf(document: FetchedDocument, live: string) {
  const path = healthPathOf(document);
  return { path: path ?? '/healthz', isChecked: path !== undefined && (await isHealthy(live, path)) };
}

/** Ends the command, because the configuration has mistakes already. */
function refuseMistakes(context: CommandContext, mistakes: readonly Mistake[]): never {
  for (const mistake of mistakes) context.complain(`${toSentence(mistake)}\n`);
  const [those, them] = mistakes.length === 1 ? ['this mistake', 'it'] : ['these mistakes', 'them'];
  return context.fail(`Nothing was written, because the configuration has ${those} already. Correct ${them} first.`);
}

/** Ends the command if a fetched document refers to files, because they would be read on this machine. */
export async function refuseFiles(context: CommandContext, { text, extension, url }: FetchedDocument): Promise<void> {
  if (url === undefined) return;
  const { fileReferencesIn } = await import('../../contract/reading/fetched.ts');
  // `check` reports a text that is not an OpenAPI document, with its line.
  const files = await fileReferencesIn(text, extension).catch(() => []);
  if (files.length === 0) return;
  const named = visibleLine(files.slice(0, NAMED_MAX).join(', ')) + (files.length > NAMED_MAX ? ', …' : '');
  context.fail(
    `${url.href} refers to files (${named}), which a fetched document must not do. Bundle it into one document, and add that document.`,
  );
}

/** Ends the command if a path below the prefix is served already. */
function refuseTaken(
  context: CommandContext,
  document: FetchedDocument,
  { basePath, proposed }: { readonly basePath: string; readonly proposed: string },
  paths: readonly string[],
): void {
  const taken = takenBelow(basePath, document, paths);
  if (taken === undefined) return;
  context.fail(`${taken} is served already, and nothing was written. Choose another --base-path, such as ${proposed}.`);
}

/** The operations that a configuration serves. */
interface ServedOperations {
  readonly served: readonly Operation[];
  /** If there is a mistake, the operations are unknown. */
  readonly mistakes: readonly Mistake[];
}

const NOTHING_SERVED: ServedOperations = { served: [], mistakes: [] };

export async function servedBy(context: CommandContext, directories: Directories): Promise<ServedOperations> {
  const around = contextOf(context, directories);
  try {
    const { contracts } = await around.configuration('check');
    return { served: contracts.operations.map(({ operation }) => operation), mistakes: [] };
  } catch (error) {
    if (error instanceof ConfigError) return { served: [], mistakes: error.mistakes };
    throw error;
  } finally {
    await around.close();
  }
}

/** Returns the context of a command on another configuration. */
export function contextOf(context: CommandContext, { config, contracts }: Directories): CommandContext {
  const environment = { ...context.environment, GATEWAY_CONFIG: config, GATEWAY_CONTRACTS: contracts };
  return onThisMachine(createMachineContext({ ...context, environment }));
}
