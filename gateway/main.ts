// Process entry: the command line. The only file with process.exit, signals and the environment.

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
    // A rejection that nobody handles is thrown by Node as an exception that nobody catches.
    process.on('uncaughtException', handle);
  },
};

// `gateway keys list | head`: whoever reads has seen enough, and nothing more can be said.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`gateway: The output cannot be written (${error.code}).\n`);
  process.exit(1);
});

// Without a listener the process would end. There is no other place to say that this one is gone.
process.stderr.on('error', () => undefined);

const settings = () => loadSettings(process.env);
const configuration: CommandTools['configuration'] = async (limitsPath) => {
  // Not every command needs it, and it takes longer to load than most of them.
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

/** Thrown rather than ended here, so that whoever holds the store open closes it. */
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

/** 0: help was asked for; 1: a problem was found; 2: the command was called wrongly. */
function exitCodeOf(error: unknown): number {
  if (!(error instanceof CommanderError)) return 1;
  return error.code === 'gateway.failure' || error.exitCode === 0 ? error.exitCode : 2;
}

/** What commander has printed already is not printed again. */
function toText(error: unknown): string {
  if (error instanceof CommanderError) return error.code === 'gateway.failure' ? `gateway: ${error.message}\n` : '';
  if (!(error instanceof ConfigError)) return `gateway: ${wordsOf(error)}\n`;
  const count = error.mistakes.length;
  const mistakes = error.mistakes.map(toSentence).join('\n');
  return `${mistakes}\ngateway: ${count} ${count === 1 ? 'mistake' : 'mistakes'} in the configuration; nothing was started.\n`;
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, message } = error as NodeJS.ErrnoException;
  // In the middle of the work: what cannot be opened is named by whoever opens it.
  if (code === 'ERR_SQLITE_ERROR') return `An embedded store cannot be used: ${message}. "gateway doctor" says which.`;
  return path === undefined ? message : `${path} cannot be read or written (${code}).`;
}
