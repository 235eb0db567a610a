// Process entry: the command line. The only file that uses process.exit, signals and the environment.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { Command, CommanderError } from 'commander';
import { addCommands, type CommandTools } from './commands/all.ts';
import type { CommandContext } from './commands/context.ts';
import { type CommandEnvironment, openKeyStore, openSecrets } from './commands/environment.ts';
import { addHelpCommand } from './commands/help.ts';
import { loadSettings } from './config/load.ts';
import { ConfigError, toSentence } from './config-errors.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const surroundings: CommandEnvironment = {
  version,
  environment: process.env,
  now: Date.now,
  write: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
  exit: (code) => process.exit(code),
  abort: () => void process.kill(process.pid, 'SIGKILL'),
  onSignal(handle) {
    process.on('SIGTERM', handle);
    process.on('SIGINT', handle);
  },
  onReload(handle) {
    process.on('SIGHUP', handle);
  },
  onRestart(handle) {
    process.on('SIGUSR2', handle);
  },
  onCrash(handle) {
    // Node throws an unhandled rejection as an uncaught exception.
    process.on('uncaughtException', handle);
  },
};

// `gateway keys list | head`: the reader has closed the pipe, so nothing more can be written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`gateway: The output cannot be written (${error.code}).\n`);
  process.exit(1);
});

// Without this listener an error on standard error would end the process. It cannot be reported anywhere else.
process.stderr.on('error', () => undefined);

const settings = () => loadSettings(process.env);
const configuration: CommandTools['configuration'] = async (limitsPath) => {
  // Loaded on demand: most commands do not need it, and it takes longer to load than most of them take to run.
  const { loadConfiguration } = await import('./configuration.ts');
  return loadConfiguration(settings(), process.env, 'few', limitsPath);
};
const context: CommandContext = {
  openStore: () => openKeyStore(surroundings, settings()),
  tiers: async () => Object.keys((await configuration()).config.limits.tiers),
  knownScopes: async () => (await configuration()).contracts.scopes,
  operatorScopes: async () => new Set((await configuration()).config.gateway.operatorScopes),
  actor: userInfo().username,
  now: Date.now,
  randomBytes,
  write: surroundings.write,
  complain: surroundings.complain,
  onTerminal: process.stderr.isTTY === true,
  input: () => process.stdin,
  fail(message) {
    throw failure(1, message);
  },
  usage(message) {
    throw failure(2, message);
  },
};

/** Thrown instead of exiting here, so that the caller closes the key store it has opened. */
function failure(exitCode: number, message: string): CommanderError {
  return new CommanderError(exitCode, 'gateway.failure', message);
}

function exitOnUsage(command: Command): void {
  command.exitOverride();
  for (const below of command.commands) exitOnUsage(below);
}

const program = new Command('gateway')
  .description('One hostname in front of the platform.')
  .version(version)
  .showHelpAfterError();
const secrets = () => openSecrets(surroundings, settings());
await addCommands(program, { surroundings, context, settings, configuration, secrets }, process.argv[2]);
addHelpCommand(program);
exitOnUsage(program);

try {
  await program.parseAsync(process.argv);
} catch (error) {
  process.stderr.write(toText(error));
  process.exit(exitCodeOf(error));
}

/** 0: help was printed; 1: the command found a problem; 2: wrong usage. */
function exitCodeOf(error: unknown): number {
  if (!(error instanceof CommanderError)) return 1;
  return error.code === 'gateway.failure' || error.exitCode === 0 ? error.exitCode : 2;
}

/** The message to print; empty for errors that commander has printed already. */
function toText(error: unknown): string {
  if (error instanceof CommanderError) return error.code === 'gateway.failure' ? `gateway: ${error.message}\n` : '';
  if (!(error instanceof ConfigError)) return `gateway: ${messageOf(error)}\n`;
  const count = error.mistakes.length;
  const mistakes = error.mistakes.map(toSentence).join('\n');
  return `${mistakes}\ngateway: ${count} ${count === 1 ? 'mistake' : 'mistakes'} in the configuration; nothing was started.\n`;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, message } = error as NodeJS.ErrnoException;
  // An error after opening: a store that cannot be opened throws a sentence with its own name.
  if (code === 'ERR_SQLITE_ERROR') return `An embedded store cannot be used: ${message}. "gateway doctor" says which.`;
  return path === undefined ? message : `${path} cannot be read or written (${code}).`;
}
