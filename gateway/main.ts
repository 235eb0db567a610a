// Process entry: the command line. The only file with process.exit, signals and the environment.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { Command, CommanderError } from 'commander';
import { createAdminClient } from './commands/admin-client.ts';
import { addAssertionKeysCommands } from './commands/assertion-keys.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addCheckCommands } from './commands/check.ts';
import type { CommandContext } from './commands/context.ts';
import { addContractCommands } from './commands/contract/contract.ts';
import { contractPlaces } from './commands/contract/places.ts';
import { addDoctorCommand } from './commands/doctor/doctor.ts';
import { addExplainCommand } from './commands/explain/explain.ts';
import { addInitCommand } from './commands/init/init.ts';
import { addKeysCommands } from './commands/keys/keys.ts';
import { addLimitsCommands } from './commands/limits/limits.ts';
import { createWithUsage } from './commands/limits/usage.ts';
import { addOrgsCommands } from './commands/orgs.ts';
import { addSeedCommands } from './commands/seed.ts';
import { addStartCommand } from './commands/start.ts';
import { openKeyStore, openSecrets, type Surroundings } from './commands/surroundings.ts';
import { addUpstreamsCommands } from './commands/upstreams/upstreams.ts';
import { addVersionsCommands } from './commands/versions/versions.ts';
import { loadSettings } from './config/load.ts';
import { loadConfiguration } from './configuration.ts';
import { ConfigError, toSentence } from './mistakes.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const surroundings: Surroundings = {
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

const configuration = () => loadConfiguration(loadSettings(process.env), process.env);
const context: CommandContext = {
  openStore: () => openKeyStore(surroundings, loadSettings(process.env)),
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
addStartCommand(program, surroundings);
addCheckCommands(program, surroundings);
addDoctorCommand(program, surroundings);
addInitCommand(program, context, () => loadSettings(process.env).configDirectory);
addOrgsCommands(program, context);
addKeysCommands(program, context);
addSeedCommands(program, context);
addAuditCommands(program, context);
addAssertionKeysCommands(program, context, () => openSecrets(surroundings, loadSettings(process.env)));
const adminToken = () => openSecrets(surroundings, loadSettings(process.env)).read('admin_token');
const usagePlaces = { settings: () => loadSettings(process.env), configuration, adminToken };
addExplainCommand(program, context, {
  adminClient: () => createAdminClient(loadSettings(process.env), adminToken()),
  configuration,
  usageOf: (organization) => createWithUsage(context, usagePlaces)((usage) => usage.show(organization)),
});
addContractCommands(program, context, contractPlaces(process.env));
addUpstreamsCommands(program, context, {
  settings: () => loadSettings(process.env),
  configuration,
  secrets: () => openSecrets(surroundings, loadSettings(process.env)),
});
addVersionsCommands(program, context, { settings: () => loadSettings(process.env), configuration });
addLimitsCommands(program, context, {
  withUsage: createWithUsage(context, usagePlaces),
  load: (limitsPath) => loadConfiguration(loadSettings(process.env), process.env, 'few', limitsPath),
});
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
  if (!(error instanceof ConfigError)) return `gateway: ${error instanceof Error ? error.message : String(error)}\n`;
  const count = error.mistakes.length;
  const mistakes = error.mistakes.map(toSentence).join('\n');
  return `${mistakes}\ngateway: ${count} ${count === 1 ? 'mistake' : 'mistakes'} in the configuration; nothing was started.\n`;
}
