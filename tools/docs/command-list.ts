// The list of commands in docs/commands.md, made from their help texts: a table of all, and the arguments and options of each.

import { Command } from 'commander';
import { addCommands } from '../../gateway/commands/all.ts';
import type { CommandContext } from '../../gateway/commands/context.ts';
import { addServerOptions } from '../../gateway/commands/server/server-options.ts';
import { type Cells, table } from './table.ts';

/** All commands with their options. None of them can be run. */
export async function knownCommands(): Promise<Command> {
  const program = new Command('gateway');
  addServerOptions(program);
  await addCommands(program, {} as CommandContext);
  return program;
}

/** The generated parts by the name of their place in docs/commands.md. */
export async function commandList(): Promise<Record<string, string>> {
  const all = leavesOf(await knownCommands(), 'bin/gateway');
  return {
    commands: table(
      ['Command', 'Use it to'],
      all.map(({ name, command }) => [`\`${name}\``, sentence(command.description())]),
    ),
    options: all.map(optionsOf).join('\n\n'),
  };
}

interface Leaf {
  readonly name: string;
  readonly command: Command;
}

function leavesOf(command: Command, name: string): Leaf[] {
  if (command.commands.length === 0) return [{ name, command }];
  return command.commands.flatMap((below) => leavesOf(below, `${name} ${below.name()}`));
}

function optionsOf({ name, command }: Leaf): string {
  const given = command.registeredArguments.map((argument): Cells => {
    const written = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return [`\`${argument.required ? `<${written}>` : `[${written}]`}\``, sentence(argument.description)];
  });
  const options = command.options.map(({ flags, description, mandatory, defaultValue, argChoices }): Cells => {
    const choices = argChoices === undefined ? '' : ` Values: ${argChoices.map((one) => `\`${one}\``).join(', ')}.`;
    const hasDefault = defaultValue !== undefined && defaultValue !== '' && defaultValue !== false;
    const fallback = hasDefault ? ` Default: \`${String(defaultValue)}\`.` : '';
    return [`\`${flags}\``, `${sentence(description)}${choices}${fallback}${mandatory ? ' Required.' : ''}`];
  });
  const title = `### ${name.replace('bin/gateway ', '')}\n\n${sentence(command.description())}`;
  const rows = [...given, ...options];
  return rows.length === 0 ? title : `${title}\n\n${table(['Option', 'Meaning'], rows)}`;
}

/** Help texts begin in lower case and have no period; names such as `org_…` stay. `<name>` would be read as HTML. */
function sentence(text: string): string {
  const line = text.replace(/\s+/g, ' ').replace(/<[\w .-]+>/g, '`$&`');
  const begun = /^[a-z]+\b(?!_)/.test(line) ? `${line.charAt(0).toUpperCase()}${line.slice(1)}` : line;
  return /[.?!]$/.test(begun) ? begun : `${begun}.`;
}
