// `gateway contract …`: commands for contract owners, before a contract is served. `bundle` prints a contract as one document without
// references to other files.

import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { createDirectReader } from '../../contract/reading/document.ts';
import { type Mistake, toSentence } from '../../shared/mistakes.ts';
import type { CommandContext } from '../context.ts';
import { addDiff } from './diff.ts';
import { addLint } from './lint.ts';
import { addPublish, publishedContractAt, textOfPublished, toJsonText } from './publish.ts';
import { directoryOf } from './read.ts';

export function addContractCommands(program: Command, context: CommandContext): void {
  const contract = program.command('contract').description('compare, check and publish contracts');
  addDiff(contract, context);
  addLint(contract, context);
  addBundle(contract, context);
  addPublish(contract, context);
}

interface BundleFlags {
  readonly output?: string;
  readonly name?: string;
}

function addBundle(contract: Command, context: CommandContext): void {
  contract
    .command('bundle')
    .description('print a contract, or all served contracts, as one JSON document')
    .argument('[file]', 'a contract; without it, the served contracts, merged as published at /openapi')
    .option('--name <name>', 'published document: v1, or the name of an upstream')
    .option('-o, --output <file>', 'file to write; standard output if absent')
    .addHelpText('after', '\nExample:\n  gateway contract bundle --name v1 -o v1.json')
    .action(async (file: string | undefined, { output, name }: BundleFlags) => {
      const text = file === undefined ? await servedText(context, name) : await alone(context, file);
      if (output === undefined) context.write(text);
      else writeFileSync(output, text);
    });
}

async function servedText(context: CommandContext, name: string | undefined): Promise<string> {
  const configuration = await context.configuration('check');
  const all = publishedContractAt(configuration, configuration.config.gateway.publicUrl);
  const chosen = all.filter((one) => name === undefined || one.name === name);
  const [first] = chosen;
  const names = all.map((one) => one.name).join(', ');
  if (first === undefined) return context.usage(`There is no document "${name}". There are: ${names}.`);
  if (chosen.length > 1) return context.usage(`There are several documents. Choose one with --name: ${names}.`);
  return textOfPublished(first);
}

async function alone(context: CommandContext, file: string): Promise<string> {
  const mistakes: Mistake[] = [];
  const content = await createDirectReader(directoryOf(file, context)).readContract(file, mistakes);
  for (const mistake of mistakes) context.complain(`${toSentence(mistake)}\n`);
  return content === undefined ? context.fail(`${file} cannot be bundled.`) : toJsonText(content.root);
}
