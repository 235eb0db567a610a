// Runs other commands in the process of `init`, on the configuration that `init` has written.

import { Command } from 'commander';
import { addCheckCommand } from '../check.ts';
import { CommandFailure } from '../command-failure.ts';
import type { CommandContext } from '../context.ts';
import { printLine, printText } from '../print.ts';
import { contextOf, type Directories } from './propose-service.ts';

/** Runs `check`. Returns true if there is no mistake. */
export function runCheck(context: CommandContext, directories: Directories): Promise<boolean> {
  printText(context, '\n$ bin/gateway check');
  return runAlso(addCheckCommand, ['check'], contextOf(context, directories));
}

/** Runs another command in this process. Returns whether it succeeded. */
export async function runAlso(
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
