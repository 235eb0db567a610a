// The remote gateway of a command line, with the actions of its contract, and the commands that use them.

import type { Actions, OpenActions } from '../../administration/actions.ts';
import type { AdministrationClient } from '../../administration/client/client.ts';
import type { RemoteServer } from './server-options.ts';

export interface Remote {
  /** Whether the command line names the server. If only GATEWAY_SERVER names it, the variable may be meant for other commands. */
  readonly isNamed: boolean;
  /** Opens the actions at this gateway. Throws CommandFailure if there is no key. */
  readonly actions: OpenActions;
  close(): void;
}

/** Commands that work by the contract. */
const CONTRACT_COMMANDS = new Set([
  'orgs create',
  'orgs list',
  'orgs set-tier',
  'orgs suspend',
  'orgs resume',
  'keys create',
  'keys list',
  'keys scopes',
  'keys rotate',
  'keys revoke',
  'audit',
  'limits show',
  'limits reset',
  'usage',
  'explain',
  'versions usage',
  'upstreams retry',
  'status',
  'alerts list',
  'alerts silence',
]);

/** Commands about files and this machine, which GATEWAY_SERVER alone does not concern. */
const FILE_COMMANDS = new Set([
  'start',
  'check',
  'routes',
  'doctor',
  'init',
  'contract diff',
  'contract lint',
  'contract bundle',
  'contract publish',
  'versions list',
  'limits simulate',
  'alerts test',
]);

/** Returns a sentence that says why this command does not work with a remote gateway; undefined if it does. */
export function whyNotRemote({ isNamed }: Pick<Remote, 'isNamed'>, command: string): string | undefined {
  if (command === 'help' || CONTRACT_COMMANDS.has(command) || (!isNamed && FILE_COMMANDS.has(command)))
    return undefined;
  const cause = isNamed ? '--server' : 'GATEWAY_SERVER';
  return `The contract of a gateway has no "${command}": give it on the machine of the gateway, without ${cause}. By contract: ${[...CONTRACT_COMMANDS].join(', ')}.`;
}

type Open<Concern extends keyof Actions> = (client: AdministrationClient) => Promise<Actions[Concern]>;

const OPENINGS: { readonly [Concern in keyof Actions]: Open<Concern> } = {
  organizations: async (client) =>
    (await import('../../administration/client/remote-organizations.ts')).remoteOrganizations(client),
  keys: async (client) => (await import('../../administration/client/remote-keys.ts')).remoteKeys(client),
  audit: async (client) => (await import('../../administration/client/remote-audit.ts')).remoteAudit(client),
  limits: async (client) => (await import('../../administration/client/remote-limits.ts')).remoteLimits(client),
  usage: async (client) => (await import('../../administration/client/remote-usage.ts')).remoteUsage(client),
  requests: async (client) => (await import('../../administration/client/remote-requests.ts')).remoteRequests(client),
  deprecations: async (client) =>
    (await import('../../administration/client/remote-deprecations.ts')).remoteDeprecations(client),
  upstreams: async (client) =>
    (await import('../../administration/client/remote-upstreams.ts')).remoteUpstreams(client),
  alerts: async (client) => (await import('../../administration/client/remote-alerts.ts')).remoteAlerts(client),
};

export function openRemote({ address, isNamed, key }: RemoteServer, version: string): Remote {
  let client: AdministrationClient | undefined;
  return {
    isNamed,
    async actions(concern) {
      const given = key();
      const { createAdministrationClient } = await import('../../administration/client/client.ts');
      client ??= createAdministrationClient({ address, key: given, version });
      return OPENINGS[concern](client);
    },
    close: () => client?.close(),
  };
}
