// Operations about the limits of an organization.

import { GatewayError } from '../../catalogue/errors.ts';
import type { LimitUsageReport } from '../../limits/limit-usage.ts';
import { resetLimits } from '../limits.ts';
import type { Handlers } from './call.ts';
import { inForceAfter } from './in-force.ts';

export const LIMITS_OF_ORGANIZATIONS: Handlers = {
  async getLimits({ limitUsage }, { organization }) {
    return { body: limitsJson(required(await limitUsage.show(organization.id))) };
  },

  async getOrganizationLimits({ limitUsage }, { path }) {
    return { body: limitsJson(required(await limitUsage.show(path('organization_id')))) };
  },

  async resetOrganizationLimits(deps, call) {
    const { dryRun } = call;
    const organization = call.path('organization_id');
    const { counters } = required(await resetLimits(deps, await call.actor(), { organization, dryRun }));
    return { body: { organization_id: organization, counters, ...(await inForceAfter(call, deps)) } };
  },
};

/** Throws resource_missing. */
function required<Report>(report: Report | undefined): Report {
  if (report === undefined) throw new GatewayError('resource_missing');
  return report;
}

function limitsJson({ organization, tier, limits }: LimitUsageReport): object {
  // The rule in limits.yaml and the counting store do not concern clients.
  const data = limits.map(({ rule: _, rule_at: __, source: ___, ...limit }) => limit);
  return { organization_id: organization, tier, data };
}
