// The remote gateway of a command line: the actions that its contract has, and which commands they serve.

import type { AdministrationClient } from '../../administration/client/client.ts';
import type { remoteKeys } from '../../administration/client/remote-keys.ts';
import type { remoteOrganizations } from '../../administration/client/remote-organizations.ts';
import type { remoteRecords } from '../../administration/client/remote-records.ts';
import type { RemoteServer } from './server-options.ts';

export interface RemoteActions {
  readonly organizations: ReturnType<typeof remoteOrganizations>;
  readonly keys: ReturnType<typeof remoteKeys>;
  readonly records: ReturnType<typeof remoteRecords>;
}

export interface Remote {
  /** False: GATEWAY_SERVER alone names it, so that it may be there for other commands. */
  readonly isNamed: boolean;
  /** Throws CommandFailure if there is no key. */
  actions(): Promise<RemoteActions>;
  close(): void;
}

/** Commands that work by the contract. */
const byContract = new Set([
  'orgs create',
  'orgs list',
  'orgs set-tier',
  'orgs suspend',
  'orgs resume',
  'keys create',
  'keys list',
  'keys rotate',
  'keys revoke',
  'audit',
  'limits show',
  'limits reset',
  'usage',
  'explain',
  'versions usage',
]);

/** Commands about files and this machine: GATEWAY_SERVER alone does not concern them. */
const ofFiles = new Set([
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
]);

/** The reason, as a sentence, for which this command cannot be given with a remote gateway; undefined if it can. */
export function whyNotRemote({ isNamed }: Pick<Remote, 'isNamed'>, command: string): string | undefined {
  if (command === 'help' || byContract.has(command) || (!isNamed && ofFiles.has(command))) return undefined;
  const cause = isNamed ? '--server' : 'GATEWAY_SERVER';
  return `The contract of a gateway has no "${command}": give it on the machine of the gateway, without ${cause}. By contract: ${[...byContract].join(', ')}.`;
}

export function openRemote({ address, isNamed, key }: RemoteServer, version: string): Remote {
  let client: AdministrationClient | undefined;
  return {
    isNamed,
    async actions() {
      const given = key();
      const [{ createAdministrationClient }, organizations, keys, records] = await Promise.all([
        import('../../administration/client/client.ts'),
        import('../../administration/client/remote-organizations.ts'),
        import('../../administration/client/remote-keys.ts'),
        import('../../administration/client/remote-records.ts'),
      ]);
      client ??= createAdministrationClient({ address, key: given, version });
      return {
        organizations: organizations.remoteOrganizations(client),
        keys: keys.remoteKeys(client),
        records: records.remoteRecords(client),
      };
    },
    close: () => client?.close(),
  };
}
