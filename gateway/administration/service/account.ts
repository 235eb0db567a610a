// The operations on the caller's organization and on the configuration in force.

import { hash } from 'node:crypto';
import type { Organization } from '../../exchange/caller.ts';
import type { Handlers } from './call.ts';

export const ACCOUNT: Handlers = {
  async getOrganization({ store }, { organization }) {
    // The organization is read from the store, because the cached caller may not yet contain a change that was made just now.
    const current = await store.organizations.get(organization.id);
    return { body: organizationJson(current ?? organization) };
  },

  getConfiguration({ configuration, inForceSinceMs, instance, version }) {
    const { version: ofFiles, files } = configuration();
    const digest = hash(
      'sha256',
      [...files]
        .map((pair) => pair.join(' '))
        .sort()
        .join('\n'),
      'hex',
    );
    const in_force_since = new Date(inForceSinceMs()).toISOString();
    return { body: { version: ofFiles, digest, in_force_since, instance, gateway_version: version } };
  },
};

export function organizationJson({ id, name, tier, state, contacts, operator }: Organization): object {
  return { id, name, tier, state, contacts, operator };
}
