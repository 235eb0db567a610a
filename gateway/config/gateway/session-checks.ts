// Checks `sessions` of gateway.yaml against the rest of the configuration: the entry that serves its operations, host names, scopes and
// issuers.

import type { Operation } from '../../exchange/operation.ts';
import { type Mistake, suggest } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import type { UpstreamEntry } from '../upstreams/upstreams-file.ts';
import type { GatewayFile } from './gateway-file.ts';
import { type Hosts, hostOfSite, site } from './hosts.ts';

interface SessionSources {
  readonly gateway: GatewayFile | undefined;
  readonly upstreams: Readonly<Record<string, Pick<UpstreamEntry, 'live'>>>;
  readonly sources: { readonly gateway: Source; readonly upstreams: Source };
}

/** Pushes a mistake for every setting with which sessions cannot work, or that has no effect. */
export function checkSessions({ gateway, upstreams, sources }: SessionSources, mistakes: Mistake[]): void {
  if (gateway === undefined) return;
  const { sessions } = gateway;
  const entries = Object.entries(upstreams).filter(([, { live = [] }]) => live.includes('session:'));
  if (sessions === undefined) {
    for (const [name] of entries) {
      const reason = 'session: stands for what people sign in with, and gateway.yaml has no sessions.';
      const remedy = 'Add sessions to gateway.yaml, or remove the entry.';
      mistakes.push(sources.upstreams.mistakeAt(['upstreams', name, 'live'], reason, remedy));
    }
    return;
  }
  if (entries.length === 0) {
    const reason = 'no entry of upstreams.yaml serves the operations that people sign in with.';
    const remedy = "Add an entry with contracts: [session/*.yaml] and live: 'session:'.";
    mistakes.push(sources.gateway.mistakeAtKey(['sessions'], reason, remedy));
  }
  checkOrigins(gateway, sources.gateway, mistakes);
  checkProviders(gateway, sources.gateway, mistakes);
}

/** Refuses an origin with a host name that is not served, because requests for it get 421, and no person could sign in there. */
function checkOrigins({ sessions, hosts, publicUrl }: GatewayFile, source: Source, mistakes: Mistake[]): void {
  const names = servedNames(hosts, publicUrl);
  for (const [index, origin] of (sessions?.origins ?? []).entries()) {
    const { hostname } = new URL(origin);
    if (names === undefined || names.includes(hostname)) continue;
    const reason = `requests for "${hostname}" get 421, because hosts names others.`;
    mistakes.push(source.mistakeAt(['sessions', 'origins', index], reason, suggest(hostname, names)));
  }
}

/** Returns the host names that are served; undefined if every name is. */
function servedNames(hosts: Hosts, publicUrl: string): string[] | undefined {
  if (Object.values(hosts).every((name) => name === undefined)) return undefined;
  return [...new Set(site.options.flatMap((of) => hostOfSite(of, hosts, publicUrl) ?? []))];
}

/**
 * Refuses a provider and an issuer with the same name, because only that name distinguishes a person from the subject of a token. Refuses
 * two providers with the same `iss`, because a logout token names its provider by `iss`.
 */
function checkProviders({ sessions, issuers }: GatewayFile, source: Source, mistakes: Mistake[]): void {
  const nameOf = new Map<string, string>();
  for (const [name, { issuer }] of Object.entries(sessions?.providers ?? {})) {
    const other = nameOf.get(issuer);
    nameOf.set(issuer, other ?? name);
    const at = ['sessions', 'providers', name, 'issuer'];
    if (other !== undefined) {
      const reason = `"${issuer}" is the issuer of "${other}" already.`;
      mistakes.push(source.mistakeAt(at, reason, 'Keep one of the two providers.'));
    }
    const ofTokens = Object.hasOwn(issuers, name) ? issuers[name] : undefined;
    if (ofTokens === undefined || ofTokens.issuer === issuer) continue;
    const reason = `"${name}" is the name of another issuer under issuers, so that people and subjects of its tokens would count as one.`;
    mistakes.push(source.mistakeAtKey(['sessions', 'providers', name], reason, 'Give one of the two another name.'));
  }
}

/** Pushes a mistake for unknown scopes of grants, which would silently grant nothing, and for operations that no person can use. */
export function checkSessionScopes(
  { gateway, sources }: SessionSources,
  operations: readonly Operation[],
  known: ReadonlySet<string>,
  mistakes: Mistake[],
): void {
  const { sessions } = gateway ?? {};
  for (const [name, { grants }] of Object.entries(sessions?.providers ?? {})) {
    for (const [at, { scopes }] of grants.entries()) {
      for (const [index, scope] of scopes.entries()) {
        if (known.has(scope)) continue;
        const place = ['sessions', 'providers', name, 'grants', at, 'scopes', index];
        mistakes.push(sources.gateway.mistakeAt(place, `the scope "${scope}" is unknown.`, suggest(scope, known)));
      }
    }
  }
  if (sessions !== undefined) return;
  const entries = new Set(operations.filter(takesSessions).map(({ entry }) => entry));
  for (const name of entries) {
    const reason = 'operations of this entry take sessions, and gateway.yaml has no sessions.';
    const remedy = 'Add sessions to gateway.yaml, or let the operations take keys only.';
    mistakes.push(sources.upstreams.mistakeAtKey(['upstreams', name], reason, remedy));
  }
}

function takesSessions({ security }: Operation): boolean {
  return security.some(({ scheme }) => scheme === 'session');
}
