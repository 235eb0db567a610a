// The operations about the gateway itself, for operators, which concern upstreams, certificates and deprecated operations.

import { GatewayError } from '../../catalogue/errors.ts';
import { retryUpstream } from '../upstreams.ts';
import type { Handlers } from './call.ts';
import { pageOf } from './page.ts';

export const OPERATION: Handlers = {
  listUpstreams({ upstreams }) {
    return { body: { data: upstreams() } };
  },

  async retryUpstream(deps, call) {
    const { dryRun } = call;
    const name = call.path('upstream');
    const retried = await retryUpstream(deps, await call.actor(), { upstream: name, dryRun });
    const upstream = deps.upstreams().find((one) => one.name === name);
    // A reload may have removed the upstream since it was found.
    if (upstream === undefined) throw new GatewayError('resource_missing');
    return { body: { ...upstream, retried } };
  },

  listCertificates({ certificates }) {
    const data = certificates().map(({ names, expires_at, acme }) => ({
      names,
      not_after: expires_at,
      source: acme === undefined ? 'file' : 'acme',
    }));
    return { body: { data } };
  },

  async listDeprecatedUses({ deprecatedUses }, call) {
    const position = call.cursors.position();
    const uses = (await deprecatedUses()).flatMap(({ id: organization, operations }) =>
      operations.map((use) => ({ ...use, organization, place: `${organization} ${use.deprecation.operation.id}` })),
    );
    const behind = uses.filter(({ place }) => position === undefined || place > position);
    const found = behind.sort((one, other) => (one.place < other.place ? -1 : 1)).slice(0, call.limit + 1);
    return pageOf(call, {
      found,
      positionOf: ({ place }) => place,
      toJson: ({ organization, deprecation, calls, lastAtMs }) => ({
        organization_id: organization,
        operation_id: deprecation.operation.id,
        requests: calls,
        last_used_at: new Date(lastAtMs).toISOString(),
        sunset_at: deprecation.sunset === undefined ? null : new Date(deprecation.sunsetMs).toISOString(),
      }),
    });
  },
};
