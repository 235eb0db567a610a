// All commands by name, in the order of the help text. Their code is loaded on demand: with all of it loaded, `gateway keys list` would take
// four times as long.

import type { Command } from 'commander';
import type { Settings } from '../config/load.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Configuration } from '../configuration.ts';
import { createAdminClient } from './admin-client.ts';
import type { CommandContext } from './context.ts';
import type { CommandEnvironment } from './environment.ts';

export interface CommandTools {
  readonly surroundings: CommandEnvironment;
  readonly context: CommandContext;
  /** Throws ConfigError. */
  settings(): Settings;
  /** Loads and checks everything, with another file in place of limits.yaml if one is given. Rejects with ConfigError. */
  configuration(limitsPath?: string): Promise<Configuration>;
  secrets(): Secrets;
}

type Add = (program: Command, tools: CommandTools) => Promise<void>;

const commands: Readonly<Record<string, Add>> = {
  async start(program, { surroundings }) {
    (await import('./start.ts')).addStartCommand(program, surroundings);
  },
  check: addCheck,
  routes: addCheck,
  async doctor(program, { surroundings }) {
    (await import('./doctor/doctor.ts')).addDoctorCommand(program, surroundings);
  },
  async init(program, { context, settings }) {
    (await import('./init/init.ts')).addInitCommand(program, context, () => settings().configDirectory);
  },
  async orgs(program, { context }) {
    (await import('./orgs.ts')).addOrgsCommands(program, context);
  },
  async keys(program, { context }) {
    (await import('./keys/keys.ts')).addKeysCommands(program, context);
  },
  async seed(program, { context }) {
    (await import('./seed.ts')).addSeedCommands(program, context);
  },
  async audit(program, { context }) {
    (await import('./audit.ts')).addAuditCommands(program, context);
  },
  async 'assertion-keys'(program, { context, secrets }) {
    (await import('./assertion-keys.ts')).addAssertionKeysCommands(program, context, secrets);
  },
  async explain(program, tools) {
    const { context, settings, configuration } = tools;
    const { addExplainCommand } = await import('./explain/explain.ts');
    const withUsage = await usageFor(tools);
    addExplainCommand(program, context, {
      adminClient: () => createAdminClient(settings(), adminTokenOf(tools)),
      configuration: () => configuration(),
      usageOf: (organization) => withUsage((usage) => usage.show(organization)),
    });
  },
  async contract(program, { context, surroundings }) {
    const { addContractCommands } = await import('./contract/contract.ts');
    const { contractPlaces } = await import('./contract/places.ts');
    addContractCommands(program, context, contractPlaces(surroundings.environment));
  },
  async upstreams(program, { context, settings, configuration, secrets }) {
    const { addUpstreamsCommands } = await import('./upstreams/upstreams.ts');
    addUpstreamsCommands(program, context, { settings, configuration: () => configuration(), secrets });
  },
  async versions(program, { context, settings, configuration }) {
    const { addVersionsCommands } = await import('./versions/versions.ts');
    addVersionsCommands(program, context, { settings, configuration: () => configuration() });
  },
  async limits(program, tools) {
    const { addLimitsCommands } = await import('./limits/limits.ts');
    addLimitsCommands(program, tools.context, { withUsage: await usageFor(tools), load: tools.configuration });
  },
};

/** Adds the named command, or all commands if the name is unknown, so that commander prints help or a suggestion. */
export async function addCommands(program: Command, tools: CommandTools, name?: string): Promise<void> {
  const addOne = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  const adding = addOne === undefined ? new Set(Object.values(commands)) : [addOne];
  for (const add of adding) await add(program, tools);
}

async function addCheck(program: Command, { surroundings }: CommandTools): Promise<void> {
  (await import('./check.ts')).addCheckCommands(program, surroundings);
}

async function usageFor(tools: CommandTools) {
  const { context, settings, configuration } = tools;
  const { createWithUsage } = await import('./limits/usage.ts');
  return createWithUsage(context, {
    settings,
    configuration: () => configuration(),
    adminToken: () => adminTokenOf(tools),
  });
}

function adminTokenOf({ secrets }: CommandTools): string | undefined {
  return secrets().read('admin_token');
}
