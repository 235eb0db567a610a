// Operations about organizations, for operators.

import type { OrganizationPatch } from '../../auth/store/key-store.ts';
import type { Organization } from '../../exchange/caller.ts';
import {
  changeOrganization,
  createOrganization,
  getOrganization,
  listOrganizations,
  organizationTag,
  resumeOrganization,
  suspendOrganization,
} from '../organizations.ts';
import { organizationJson } from './account.ts';
import type { Answer, Call, Handlers } from './call.ts';
import { type InForce, inForceAfter } from './in-force.ts';
import { partAnswer } from './page.ts';

interface OrganizationBody {
  readonly id?: string;
  readonly name: string;
  readonly tier: string;
  readonly contacts?: readonly string[];
}

export const ORGANIZATIONS: Handlers = {
  async listOrganizations(deps, call) {
    const part = await listOrganizations(deps, {
      find: call.query('find'),
      tier: call.query('tier'),
      state: call.query('state'),
      after: call.cursors.position(),
      most: call.limit,
    });
    return partAnswer(call, part, organizationJson);
  },

  async createOrganization(deps, call) {
    const { id, name, tier, contacts = [] } = call.body as unknown as OrganizationBody;
    const { dryRun } = call;
    const wanted = { id, name, tier, contacts, operator: false, dryRun };
    const made = await createOrganization(deps, await call.actor(), wanted);
    return { status: 201, ...answerOf(made), location: dryRun ? undefined : `/gateway/v1/organizations/${made.id}` };
  },

  async getOrganizationById(deps, call) {
    return answerOf(await getOrganization(deps, call.path('organization_id')));
  },

  async updateOrganization(deps, call) {
    const { tier, contacts } = call.body as OrganizationPatch;
    const patch = { ...(tier !== undefined && { tier }), ...(contacts !== undefined && { contacts }) };
    const changed = await changeOrganization(deps, await call.actor(), { ...oneOf(call), patch });
    return answerOf(changed, await inForceAfter(call, deps));
  },

  async suspendOrganization(deps, call) {
    const suspended = await suspendOrganization(deps, await call.actor(), oneOf(call));
    return answerOf(suspended, await inForceAfter(call, deps));
  },

  async resumeOrganization(deps, call) {
    const resumed = await resumeOrganization(deps, await call.actor(), oneOf(call));
    return answerOf(resumed, await inForceAfter(call, deps));
  },
};

function oneOf(call: Call) {
  const { ifMatch, dryRun } = call;
  return { id: call.path('organization_id'), ifMatch, dryRun };
}

function answerOf(organization: Organization, inForce: { readonly in_force?: InForce } = {}): Answer {
  return { body: { ...organizationJson(organization), ...inForce }, etag: organizationTag(organization) };
}
