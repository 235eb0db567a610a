// The command `gateway init`: writes an initial configuration with comments, and JSON Schemas for editors. With `--from`, it adds a service
// from the service's OpenAPI document.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { CONFIG_FILE_NAMES, editorSchemaOf } from '../../config/editor-schemas.ts';
import { publicationsFile } from '../../contract/diff/publications.ts';
import { shownPath } from '../../shared/file-text.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import type { AddServiceFlags, Directories, ProposedService } from './propose-service.ts';

interface InitFlags {
  readonly force?: true;
  readonly schemas?: true;
  readonly empty?: true;
  readonly from?: string;
  readonly name?: string;
  readonly live?: string;
  readonly basePath?: string;
  readonly update?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

interface WrittenFile {
  readonly path: string;
  readonly text: string;
}

/** The texts of files, by their paths below the directories of the configuration and of the contracts. */
interface Templates {
  readonly config: Readonly<Record<string, URL>>;
  readonly contracts: Readonly<Record<string, URL>>;
}

const template = (path: string) => new URL(`./files/${path}`, import.meta.url);
/** The contract of the gateway itself. Each configuration gets a copy. */
const OWN_CONTRACT = new URL('../../../openapi/gateway/', import.meta.url);
const WITH_EXAMPLE: Templates = {
  config: {
    'gateway.yaml': template('gateway.yaml'),
    'upstreams.yaml': template('upstreams.yaml'),
    'limits.yaml': template('limits.yaml'),
  },
  contracts: { 'v1/customers.yaml': template('openapi/v1/customers.yaml') },
};
const WITHOUT_EXAMPLE: Templates = {
  config: {
    'gateway.yaml': template('gateway.yaml'),
    'upstreams.yaml': template('empty/upstreams.yaml'),
    'limits.yaml': template('empty/limits.yaml'),
  },
  contracts: {},
};

export function addInitCommand(program: Command, context: CommandContext): void {
  program
    .command('init')
    .description('write an initial configuration, or add a service from its OpenAPI document')
    .argument('[directory]', 'directory of the configuration; default: GATEWAY_CONFIG, or config/ of the gateway')
    .option('--from <url or file>', 'add a service: the URL of its document, its address, or a file')
    .option('--name <name>', 'with --from: name of the entry; default: from the title of the document')
    .option('--live <url>', 'with --from: address of the service; default: the address of the document')
    .option('--base-path <path>', 'with --from: prefix of its paths; default: none, or /NAME if a path is taken')
    .option(
      '--update',
      'fetch the document of an entry again, from --from or from the service of --name, show what changes, and write it',
    )
    .option('--dry-run', 'with --update: write nothing; breaking changes give exit code 1')
    .option('--empty', 'leave out the sandbox and its example')
    .option('--force', 'overwrite existing files; with --update: write changes that break clients, too')
    .option('--schemas', 'write only the JSON Schemas; existing ones are overwritten, because they contain no settings')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway init my-config && GATEWAY_CONFIG=my-config gateway check\n  gateway init my-config --from http://localhost:8000\n  gateway init my-config --from http://localhost:8000 --update',
    )
    .action((directory: string | undefined, flags: InitFlags) => {
      const { configDirectory, contractsDirectory } = context.settings();
      const config = resolve(directory ?? configDirectory);
      const contracts = directory === undefined ? contractsDirectory : join(config, 'openapi');
      if (flags.dryRun && !flags.update) return context.usage('--dry-run needs --update.');
      if (flags.update) return update(context, { config, contracts }, flags);
      if (flags.from === undefined) return init(context, config, flags);
      return addService(context, { config, contracts }, { ...flags, from: flags.from });
    });
}

function init(context: CommandContext, directory: string, { force, schemas, empty, json }: InitFlags): void {
  const directories = { config: directory, contracts: join(directory, 'openapi') };
  const own = schemas ? [] : templatesFor(directories, empty ? WITHOUT_EXAMPLE : WITH_EXAMPLE);
  refuseToOverwrite(context, own, force === true);
  const written = [...own, ...editorSchemas(directory)];
  for (const { path, text } of written) write(context, path, text);
  if (json) {
    printJson(context, { directory, written: written.map(({ path }) => path) });
    return;
  }
  for (const { path } of written) printLine(context, `wrote ${shownPath(path)}`);
  if (schemas) return;
  const shown = shownPath(directory);
  if (empty) printLine(context, `Add a service: bin/gateway init ${shown} --from http://localhost:8000`);
  else printLine(context, `Try it: GATEWAY_CONFIG=${shown} GATEWAY_CONTRACTS=${shown}/openapi bin/gateway start`);
}

async function update(context: CommandContext, directories: Directories, flags: InitFlags) {
  const { updateService } = await import('./update-service.ts');
  return updateService(context, directories, flags);
}

/** Adds a service. If there is no configuration yet, writes one in the same step. */
async function addService(
  context: CommandContext,
  directories: Directories,
  flags: AddServiceFlags & Pick<InitFlags, 'json'>,
): Promise<void> {
  const { proposeService } = await import('./propose-service.ts');
  const isNew = !existsSync(join(directories.config, 'upstreams.yaml'));
  const base = isNew ? templatesFor(directories, WITHOUT_EXAMPLE) : [];
  refuseToOverwrite(context, base, false);
  const upstreamsText = base.find(({ path }) => path.endsWith('upstreams.yaml'))?.text;
  const service: ProposedService = await proposeService(context, directories, flags, upstreamsText);
  const schemas = isNew ? editorSchemas(directories.config) : [];
  const written = new Map([...base, ...schemas, ...service.files].map(({ path, text }) => [path, text]));
  for (const [path, text] of written) write(context, path, text);
  if (flags.json) {
    printJson(context, {
      directory: directories.config,
      name: service.name,
      entry: service.entry,
      written: [...written.keys()],
    });
    return;
  }
  for (const path of written.keys()) printLine(context, `wrote ${shownPath(path)}`);
  if (flags.name === undefined) printLine(context, namedText(service));
  for (const line of service.aboutPrefix) printLine(context, line);
  const { tryService } = await import('./try-service.ts');
  await tryService(context, directories, service);
}

/** Says how to choose another name. Clients see the name in scopes, so it should not change after the first key. */
function namedText({ name, entry: { security } }: ProposedService): string {
  const scopes = [...security.read, ...security.write].join(' and ');
  return `The entry is called ${name}, after the title of the document, and its scopes ${scopes}: --name chooses another name.`;
}

/** Returns the files of the templates, and the contract of the gateway itself. */
function templatesFor({ config, contracts }: Directories, templates: Templates): WrittenFile[] {
  const filesBelow = (directory: string, files: Readonly<Record<string, URL>>) =>
    Object.entries(files).map(([name, url]) => ({ path: join(directory, name), text: readFileSync(url, 'utf8') }));
  const own = readdirSync(OWN_CONTRACT).map((name) => [name, new URL(name, OWN_CONTRACT)] as const);
  return [
    ...filesBelow(config, templates.config),
    ...filesBelow(contracts, templates.contracts),
    ...filesBelow(join(contracts, 'gateway'), Object.fromEntries(own)),
    ...firstRecord(contracts),
  ];
}

/** Returns an empty record of publications, because version control keeps no empty directory. An existing record is not replaced. */
function firstRecord(contracts: string): WrittenFile[] {
  const path = publicationsFile(join(contracts, 'published'));
  return existsSync(path) ? [] : [{ path, text: '' }];
}

function editorSchemas(directory: string): WrittenFile[] {
  return CONFIG_FILE_NAMES.map((name) => ({
    path: join(directory, 'schemas', `${name}.json`),
    text: editorSchemaOf(name),
  }));
}

/** Ends the command if a file exists with another text. The same text, such as the contract of the gateway, may be written again. */
function refuseToOverwrite(context: CommandContext, files: readonly WrittenFile[], force: boolean): void {
  const present = files
    .filter(({ path, text }) => existsSync(path) && readFileSync(path, 'utf8') !== text)
    .map(({ path }) => path);
  if (present.length === 0 || force) return;
  const names = present.map(shownPath).join(', ');
  context.fail(`Nothing was written, because these files exist: ${names}. Name another directory, or use --force.`);
}

function write(context: CommandContext, path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (error) {
    context.fail(`${shownPath(path)} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}
