// `gateway help …`: what a command is for, also of one below another. The library's own looks one level deep, and says nothing of a name
// that it does not know.

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
  // Ends with what may have been meant.
  await command.parseAsync([name], { from: 'user' });
}
