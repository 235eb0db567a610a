// All commands by name, in the order of the help text. Their code is loaded on demand, because with all code loaded, `gateway keys list`
// would take four times as long.

import type { Command } from 'commander';
import type { CommandContext } from './context.ts';

type Add = (program: Command, context: CommandContext) => void;

const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  start: async () => (await import('./start.ts')).addStartCommand,
  status: async () => (await import('./status/status.ts')).addStatusCommand,
  check: async () => (await import('./check.ts')).addCheckCommand,
  routes: async () => (await import('./routes.ts')).addRoutesCommand,
  doctor: async () => (await import('./doctor/doctor.ts')).addDoctorCommand,
  init: async () => (await import('./init/init.ts')).addInitCommand,
  orgs: async () => (await import('./orgs.ts')).addOrgsCommands,
  keys: async () => (await import('./keys/keys.ts')).addKeysCommands,
  seed: async () => (await import('./seed.ts')).addSeedCommands,
  audit: async () => (await import('./audit.ts')).addAuditCommands,
  certificates: async () => (await import('./certificates/certificates.ts')).addCertificatesCommands,
  'assertion-keys': async () => (await import('./assertion-keys.ts')).addAssertionKeysCommands,
  explain: async () => (await import('./explain/explain.ts')).addExplainCommand,
  requests: async () => (await import('./requests.ts')).addRequestsCommand,
  mcp: async () => (await import('./mcp.ts')).addMcpCommands,
  contract: async () => (await import('./contract/contract.ts')).addContractCommands,
  upstreams: async () => (await import('./upstreams/upstreams.ts')).addUpstreamsCommands,
  versions: async () => (await import('./versions/versions.ts')).addVersionsCommands,
  usage: async () => (await import('./usage.ts')).addUsageCommand,
  alerts: async () => (await import('./alerts/alerts.ts')).addAlertsCommands,
  limits: async () => (await import('./limits/limits.ts')).addLimitsCommands,
};

/**
 * Adds the named command, or all commands if the name is unknown, so that commander prints help or a suggestion. With `--version`, adds no
 * command.
 */
export async function addCommands(program: Command, context: CommandContext, name?: string): Promise<void> {
  if (name === '--version' || name === '-V') return;
  const only = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const loading = only === undefined ? Object.values(COMMANDS) : [only];
  for (const load of loading) (await load())(program, context);
}
