// `gateway help …`: prints the help of a command at any depth. commander's own help command reaches one level deep and ignores unknown
// names.

import type { Command } from 'commander';

export function addHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .description('display help for a command')
    .argument('[command...]', 'such as keys, or keys create')
    .action((names: readonly string[]) => help(program, names));
}

async function help(command: Command, [name, ...others]: readonly string[]): Promise<void> {
  if (name === undefined || command.commands.length === 0) return command.help();
  const below = command.commands.find((one) => one.name() === name);
  if (below !== undefined) return help(below, others);
  // Fails with a suggestion for the unknown name.
  await command.parseAsync([name], { from: 'user' });
}
