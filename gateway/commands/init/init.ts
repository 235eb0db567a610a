// `gateway init`: writes an initial configuration with comments, and JSON Schemas for completion and checks in editors.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { configFileNames, editorSchemaOf } from '../../config/editor-schemas.ts';
import { shownPath } from '../../shared/yaml-source.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';

interface InitFlags {
  readonly force?: true;
  readonly schemas?: true;
  readonly json?: true;
}

const TEMPLATES = new URL('./files/', import.meta.url);
const templates = ['gateway.yaml', 'upstreams.yaml', 'limits.yaml', 'openapi/v1/customers.yaml'] as const;

export function addInitCommand(program: Command, context: CommandContext): void {
  program
    .command('init')
    .description('write an initial configuration, and JSON Schemas for editors')
    .argument('[directory]', 'directory to write; default: GATEWAY_CONFIG, or config/ of the gateway')
    .option('--force', 'overwrite existing files')
    .option('--schemas', 'write the JSON Schemas only; existing ones are overwritten, because they hold no settings')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway init my-config && GATEWAY_CONFIG=my-config gateway check')
    .action((directory: string | undefined, flags: InitFlags) => {
      init(context, resolve(directory ?? context.settings().configDirectory), flags);
    });
}

function init(context: CommandContext, directory: string, { force, schemas, json }: InitFlags): void {
  const own = schemas ? [] : templates.map((name) => ({ path: join(directory, name), text: readTemplate(name) }));
  const present = own.map(({ path }) => path).filter((path) => existsSync(path));
  if (present.length > 0 && !force) {
    const names = present.map(shownPath).join(', ');
    context.fail(`Nothing was written, since there is already: ${names}. Name another directory, or use --force.`);
  }
  const made = configFileNames.map((name) => ({
    path: join(directory, 'schemas', `${name}.json`),
    text: editorSchemaOf(name),
  }));
  const written = [...own, ...made];
  for (const { path, text } of written) write(context, path, text);
  if (json) {
    printJson(context, { directory, written: written.map(({ path }) => path) });
    return;
  }
  for (const { path } of written) printLine(context, `wrote ${shownPath(path)}`);
  if (schemas) return;
  const shown = shownPath(directory);
  printLine(context, `Try it: GATEWAY_CONFIG=${shown} GATEWAY_CONTRACTS=${shown}/openapi bin/gateway start`);
}

function readTemplate(name: (typeof templates)[number]): string {
  return readFileSync(new URL(name, TEMPLATES), 'utf8');
}

function write(context: CommandContext, path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (error) {
    context.fail(`${shownPath(path)} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}
