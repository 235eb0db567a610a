// Warns of settings of a valid configuration that have no effect, most likely because a name is misspelt or because another setting is
// missing.

import { ORGANIZATION_ID } from '../auth/issue-key.ts';
import { hostOfSite } from '../config/gateway/hosts.ts';
import type { Configuration } from '../configuration.ts';
import { entryOfUpstream, isServerOfEntry } from '../shared/contracts/upstreams.ts';
import { type Mistake, suggest } from '../shared/mistakes.ts';

export function settingsWithoutEffect(configuration: Configuration): Mistake[] {
  const { config, contracts } = configuration;
  const { gateway, limits, sources, upstreams } = config;
  const noTier = sources.limits.mistakeAt(['tiers'], 'there is no tier, so no organization is limited.', 'Define one.');
  const organizations = Object.keys(limits.organizations).filter((id) => !ORGANIZATION_ID.test(id));
  // The setting is checked only if the file contains it, because the default names scopes of the mail server, which many installations do
  // not have.
  const isWritten = Object.hasOwn((sources.gateway.value ?? {}) as object, 'operatorScopes');
  return [
    ...(Object.keys(limits.tiers).length === 0 ? [noTier] : []),
    ...organizations.map((id) => {
      const reason = `"${id}" is not the id of an organization, so this limit applies to none.`;
      return sources.limits.mistakeAtKey(['organizations', id], reason, 'Write it as "gateway orgs list" shows it.');
    }),
    ...Object.entries(upstreams).flatMap(([name, { honoursIdempotencyKey, whenOutcomeUnknown }]) => {
      if (isServerOfEntry(name) || !honoursIdempotencyKey || whenOutcomeUnknown === undefined) return [];
      const reason = 'it says nothing, because honoursIdempotencyKey is true: a repeated key is sent to the upstream.';
      return sources.upstreams.mistakeAt(['upstreams', name, 'whenOutcomeUnknown'], reason, 'Remove one of them.');
    }),
    ...proxiesOfAnyone(configuration),
    ...servedNowhere(configuration),
    ...tokensOfNone(configuration),
    ...agentsWithoutIssuer(configuration),
    ...basicWithoutAWord(configuration),
    ...gateway.operatorScopes.flatMap((scope, index) => {
      if (!isWritten || contracts.scopes.has(scope)) return [];
      const reason = `no operation requires the scope "${scope}", so reserving it has no effect.`;
      return sources.gateway.mistakeAt(['operatorScopes', index], reason, suggest(scope, contracts.scopes));
    }),
  ];
}

/** Warns of ranges of trusted proxies that are wider than any private network, because each client in them chooses its own address. */
function proxiesOfAnyone({ config: { gateway, sources } }: Configuration): Mistake[] {
  return gateway.trustedProxies.flatMap((range, index) => {
    const [address = '', bits = '128'] = range.split('/');
    if (Number(bits) >= (address.includes(':') ? 7 : 8)) return [];
    const reason = `clients in ${range} can write any address into X-Forwarded-For, so no limit of addresses stops them.`;
    const remedy = 'List the addresses of your proxies only.';
    return [sources.gateway.mistakeAt(['trustedProxies', index], reason, remedy)];
  });
}

/** Warns of entries whose sites all lack a host name, because no request reaches their operations. */
function servedNowhere({ config: { gateway, upstreams, sources } }: Configuration): Mistake[] {
  return Object.entries(upstreams).flatMap(([name, { hosts }]) => {
    if (isServerOfEntry(name) || hosts.some((site) => hostOfSite(site, gateway.hosts, gateway.publicUrl) !== undefined))
      return [];
    const reason = `gateway.yaml has no host name for ${hosts.join(', ')}, so its operations are served nowhere.`;
    const remedy = `Set hosts.${hosts[0]} in gateway.yaml.`;
    return [{ ...sources.upstreams.mistakeAt(['upstreams', name, 'hosts'], reason, remedy), refusesAll: true }];
  });
}

/** Warns of entries that forward tokens although no issuer is configured. */
function tokensOfNone({ config: { gateway, upstreams, sources } }: Configuration): Mistake[] {
  if (Object.keys(gateway.issuers).length > 0) return [];
  return Object.entries(upstreams).flatMap(([name, { authorization }]) => {
    if (authorization !== 'forward' || isServerOfEntry(name)) return [];
    const reason = 'gateway.yaml has no issuers, so no token reaches the service.';
    return [sources.upstreams.mistakeAt(['upstreams', name, 'authorization'], reason, 'Add issuers to gateway.yaml.')];
  });
}

/** Warns of an endpoint for agents without an issuer, because clients cannot find out where to get a token. */
function agentsWithoutIssuer({ config: { gateway, sources } }: Configuration): Mistake[] {
  const { mcp, issuers, publicUrl } = gateway;
  const audiences = Object.values(issuers).map(({ audience }) => audience);
  const possible = [`${publicUrl}${mcp?.path}`, publicUrl, `${publicUrl}/`];
  if (mcp === undefined || audiences.length === 0 || possible.some((one) => audiences.includes(one))) return [];
  const reason = 'no issuer makes tokens for the endpoint or the API, so agents are not told where to get one.';
  const remedy = `If agents should use tokens, set the audience of their issuer to ${possible[0]} or ${publicUrl}.`;
  return [sources.gateway.mistakeAtKey(['mcp'], reason, remedy)];
}

/** Warns of entries whose contract accepts the gateway's own user name and password, without a setting in the entry. */
function basicWithoutAWord({ config, contracts }: Configuration): Mistake[] {
  const { sources, upstreams } = config;
  return Object.entries(upstreams).flatMap(([name, { basicForClients }]) => {
    const isOpen = contracts.operations.some(
      ({ operation }) =>
        entryOfUpstream(operation.upstream) === name && operation.security.some(({ scheme }) => scheme === 'basic'),
    );
    if (!isOpen || isServerOfEntry(name) || basicForClients !== undefined) return [];
    const reason = 'the contract lets clients present this user name and password instead of a key.';
    return [sources.upstreams.mistakeAtKey(['upstreams', name, 'credential'], reason, 'Say basicForClients: true.')];
  });
}
