// Runs one command line. Returns its exit code, and prints its failure.

import { Command, CommanderError } from 'commander';
import { saysDiskFull } from '../shared/disk.ts';
import { ConfigError, toSentence } from '../shared/mistakes.ts';
import { addCommands } from './all.ts';
import { CommandFailure } from './command-failure.ts';
import type { MachineContext } from './context.ts';
import { onThisMachine } from './here/actions.ts';
import { openRemote, type Remote, whyNotRemote } from './server/remote.ts';
import { addServerOptions, takeServerOptions } from './server/server-options.ts';

const HELP = `
"gateway help keys create" has the options and an example of one command.
Exit codes: 0; 1 if a command has found a problem or has failed; 2 if it was called wrongly.`;

/**
 * Resolves with the exit code. 0: it succeeded, and `start` continues; 1: it found a problem; 2: wrong usage. Closes the context.
 *
 * @param words the command line after the name of the program
 */
export async function runCommand(words: readonly string[], machine: MachineContext): Promise<number> {
  // These settings come before the commands are added, because commands inherit them.
  const program = new Command('gateway')
    .description('API gateway: one address in front of your services.')
    .version(machine.version)
    .addHelpText('after', HELP)
    .showHelpAfterError('Add --help for the commands, options and examples.')
    .configureOutput({ writeOut: machine.write, writeErr: machine.complain })
    .exitOverride();
  addServerOptions(program);
  let remote: Remote | undefined;
  let name: string | undefined;
  let failure: unknown;
  try {
    const { command, server } = takeServerOptions(words, machine);
    remote = server && openRemote(server, machine.version);
    const context = remote === undefined ? onThisMachine(machine) : { ...machine, remote, actions: remote.actions };
    await addCommands(program, context, command[0]);
    addHelpCommand(program);
    program.hook('preAction', (_, command) => {
      name = nameOf(command);
    });
    if (remote !== undefined) requireContract(program, machine, remote);
    await program.parseAsync(command, { from: 'user' });
  } catch (error) {
    failure = error;
  } finally {
    remote?.close();
    await machine.close();
  }
  if (failure === undefined) return 0;
  machine.complain(toText(failure, name));
  return exitCodeOf(failure);
}

/**
 * Adds `gateway help …`, which prints the help of a command at any depth. commander's own help command reaches one level deep and ignores
 * unknown names.
 */
function addHelpCommand(program: Command): void {
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

/** Ends commands that the contract of a remote gateway does not contain, before they begin. */
function requireContract(program: Command, { usage }: MachineContext, remote: Remote): void {
  program.hook('preAction', (_, command) => {
    const reason = whyNotRemote(remote, nameOf(command));
    if (reason !== undefined) usage(reason);
  });
}

/** Returns the words of a command, such as `keys create`. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.exitCode;
  if (!(error instanceof CommanderError)) return 1;
  // 0: the help was asked for.
  return error.exitCode === 0 ? 0 : 2;
}

/**
 * Returns the text to print; empty for an error that was printed before.
 *
 * @param name the failed command, such as `keys create`; undefined if no command has begun
 */
function toText(error: unknown, name: string | undefined): string {
  // commander prints its own errors.
  if (error instanceof CommanderError) return serverHint(error);
  if (error instanceof CommandFailure) return error.message === '' ? '' : `gateway: ${error.message}\n`;
  if (!(error instanceof ConfigError)) return `gateway: ${messageOf(error)}\n`;
  const count = error.mistakes.length;
  const mistakes = error.mistakes.map(toSentence).join('\n');
  return `${mistakes}\ngateway: ${count} ${count === 1 ? 'mistake' : 'mistakes'} in the configuration; ${notDone(name)}\n`;
}

function notDone(name: string | undefined): string {
  if (name === undefined || name === 'start') return 'nothing was started.';
  return `"${name}" was not run. A gateway that runs keeps its former configuration.`;
}

/** These options stand before the command, because some commands have others of these names. */
function serverHint({ code, message }: CommanderError): string {
  if (code !== 'commander.unknownOption') return '';
  if (message.includes("'--history'")) return 'gateway: Only one command has it: gateway status --history.\n';
  const isServerOption = /'--(server|key|key-file|insecure)\b/.test(message);
  return isServerOption ? 'gateway: Write this option before the command: gateway --server https://… keys list.\n' : '';
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, message } = error as NodeJS.ErrnoException;
  // This error came after the store was opened. A store that cannot be opened throws a sentence with its name.
  if (code === 'ERR_SQLITE_ERROR' && saysDiskFull(message))
    return `The disk of the data directory is full (${message}). Make room; "gateway doctor" says how much it has.`;
  if (code === 'ERR_SQLITE_ERROR') return `An embedded store cannot be used: ${message}. "gateway doctor" says which.`;
  return path === undefined ? message : `${path} cannot be read or written (${code}).`;
}
