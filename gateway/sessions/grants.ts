// What the claims of a person mean here: the organization, the scopes, and the claims that have to be kept to know both again. Pure.

import { scopeSetOf } from '../shared/contracts/scopes.ts';
import type { ProviderSettings } from './settings.ts';

type Claims = Readonly<Record<string, unknown>>;
type Rules = Pick<ProviderSettings, 'organization' | 'grants'>;

/** As `verify-token.ts` has it: upstreams get subjects and ids of keys under one name. */
const SUBJECT = /^(?!key_)[!-~]{1,255}$/;

export function isSubject(text: unknown): text is string {
  return typeof text === 'string' && SUBJECT.test(text);
}

/** The id of the organization; undefined if the claims name none. */
export function organizationClaimed(claims: Claims, { organization }: Pick<Rules, 'organization'>): string | undefined {
  if ('id' in organization) return organization.id;
  const found = valueAt(claims, organization.claim);
  // Keycloak lists the organizations of a person. Of several, none is meant.
  const named: unknown = Array.isArray(found) && found.length === 1 ? found[0] : found;
  if (typeof named !== 'string' || named === '' || named.length > 255) return undefined;
  if (organization.names === undefined) return named;
  return Object.hasOwn(organization.names, named) ? organization.names[named] : undefined;
}

/** The scopes that follow from the claims. */
export function scopesIn(claims: Claims, { grants }: Pick<Rules, 'grants'>): ReadonlySet<string> {
  const held = grants.filter(({ claim, value }) => claim === undefined || holds(valueAt(claims, claim), value));
  return scopeSetOf(held.flatMap(({ scopes }) => scopes));
}

function holds(found: unknown, value: string | undefined): boolean {
  if (value === undefined) return found !== undefined && found !== null && found !== false;
  if (Array.isArray(found)) return found.includes(value);
  // The way in which OAuth writes lists.
  return typeof found === 'string' ? found.split(' ').includes(value) || found === value : String(found) === value;
}

/** The claims that the rules look at, and what a page may show of the person. */
export function keptClaims(claims: Claims, { organization, grants }: Rules): Record<string, unknown> {
  const paths = [
    ...('claim' in organization ? [organization.claim] : []),
    ...grants.flatMap(({ claim }) => (claim === undefined ? [] : [claim])),
  ];
  const names = new Set([...paths.map(([first]) => first as string), 'name', 'email']);
  return Object.fromEntries([...names].flatMap((name) => (Object.hasOwn(claims, name) ? [[name, claims[name]]] : [])));
}

/** A claim may have the name of a member that every object inherits. */
function valueAt(claims: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inside, name) => {
    if (typeof inside !== 'object' || inside === null || !Object.hasOwn(inside, name)) return undefined;
    return (inside as Claims)[name];
  }, claims);
}
