// Pure: finds the organization and the scopes of a person in the provider's claims. Also selects the claims that the session keeps, because
// later requests need them.

import { scopeSetOf } from '../shared/contracts/scopes.ts';
import type { ProviderSettings } from './settings.ts';

type Claims = Readonly<Record<string, unknown>>;
type Rules = Pick<ProviderSettings, 'organization' | 'grants'>;

/**
 * The form of a subject, the same as in auth/tokens/verify-token.ts. A subject must not look like the id of a key, because upstreams get
 * both under one name.
 */
const SUBJECT = /^(?!key_)[!-~]{1,255}$/;

export function isSubject(text: unknown): text is string {
  return typeof text === 'string' && SUBJECT.test(text);
}

/** Returns the id of the organization; undefined if the claims name none. */
export function organizationClaimed(claims: Claims, { organization }: Pick<Rules, 'organization'>): string | undefined {
  if ('id' in organization) return organization.id;
  const found = valueAt(claims, organization.claim);
  // Keycloak sends a list of organizations. If the list has several entries, the claims do not say for which organization the person acts.
  const named: unknown = Array.isArray(found) && found.length === 1 ? found[0] : found;
  if (typeof named !== 'string' || named === '' || named.length > 255) return undefined;
  if (organization.names === undefined) return named;
  return Object.hasOwn(organization.names, named) ? organization.names[named] : undefined;
}

/** Returns the scopes that the claims grant. */
export function scopesIn(claims: Claims, { grants }: Pick<Rules, 'grants'>): ReadonlySet<string> {
  const held = grants.filter(({ claim, value }) => claim === undefined || holds(valueAt(claims, claim), value));
  return scopeSetOf(held.flatMap(({ scopes }) => scopes));
}

function holds(found: unknown, value: string | undefined): boolean {
  if (value === undefined) return found !== undefined && found !== null && found !== false;
  if (Array.isArray(found)) return found.includes(value);
  // OAuth writes lists as one text, separated by spaces.
  return typeof found === 'string' ? found.split(' ').includes(value) || found === value : String(found) === value;
}

/** Returns the claims that the rules read, and the claims that a page may show about the person. */
export function keptClaims(claims: Claims, { organization, grants }: Rules): Record<string, unknown> {
  const paths = [
    ...('claim' in organization ? [organization.claim] : []),
    ...grants.flatMap(({ claim }) => (claim === undefined ? [] : [claim])),
  ];
  const names = new Set([...paths.map(([first]) => first as string), 'name', 'email']);
  return Object.fromEntries([...names].flatMap((name) => (Object.hasOwn(claims, name) ? [[name, claims[name]]] : [])));
}

/** Reads only own members, because a path in the settings may contain the name of a member that every object inherits. */
function valueAt(claims: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inside, name) => {
    if (typeof inside !== 'object' || inside === null || !Object.hasOwn(inside, name)) return undefined;
    return (inside as Claims)[name];
  }, claims);
}
