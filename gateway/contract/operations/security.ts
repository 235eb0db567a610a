// Determines the credentials that an operation requires, by the security requirements of the contract or of its upstreams.yaml entry.

import type { SecurityAlternative } from '../../exchange/operation.ts';
import { GATEWAY_SCOPES, isGatewayScope } from '../../shared/contracts/scopes.ts';
import { isSessionCookieName } from '../../shared/http/session-cookies.ts';
import { closest, type Mistake, suggest } from '../../shared/mistakes.ts';
import { follow, isRecord, type JsonObject, member, objectAt } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import type { Extensions } from './extensions.ts';

/** The scopes that callers need, as an entry says. */
interface EntrySecurity {
  /** The scopes for every operation. */
  readonly apiKey?: readonly string[] | undefined;
  /** The scopes for operations that only read, and for others. */
  readonly read?: readonly string[] | undefined;
  readonly write?: readonly string[] | undefined;
  /** The scopes that replace scopes of the document, by their spelling there. */
  readonly scopes?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Whether people who have signed in may call where keys may, with the same scopes. */
  readonly sessions?: boolean | undefined;
}

/** The settings of an upstreams.yaml entry that decide the security of the operations in its documents. */
export interface SecuritySettings {
  readonly upstream: string;
  readonly security?: EntrySecurity | undefined;
  readonly public?: boolean | undefined;
  /** Whether no entry lists the document. The entry would decide which scopes there are. */
  readonly hasNoEntry?: boolean | undefined;
  /** Says whether this upstream or another one has the gateway's own contract; undefined if no upstream has it. */
  readonly ownContract?: 'here' | 'elsewhere' | 'unknown' | undefined;
}

/**
 * Returns the scopes that operations of this document may require: `<resource>:read`, `<resource>:write`, and the scopes that the
 * upstreams.yaml entry names. The resource is a tag, a path segment or the upstream. This check finds misspelt scopes, which would lock out
 * every caller. Only the gateway's own contract may use its own scopes. Returns undefined if any scope may be correct.
 */
export function knownScopes(root: JsonObject, defaults: SecuritySettings): ReadonlySet<string> | undefined {
  if (defaults.hasNoEntry === true) return undefined;
  if (defaults.ownContract === 'here') return new Set(GATEWAY_SCOPES);
  const resources = new Set<string>([defaults.upstream]);
  if (typeof root['x-gateway-upstream'] === 'string') resources.add(root['x-gateway-upstream']);
  for (const tag of Array.isArray(root.tags) ? root.tags : []) if (isRecord(tag)) resources.add(String(tag.name));
  for (const template of Object.keys(objectAt(root, 'paths'))) {
    for (const segment of template.split('/')) if (/^(?!v\d+$)[a-z][a-z0-9_-]*$/.test(segment)) resources.add(segment);
  }
  const scopes = [...resources].flatMap((resource) => [`${resource}:read`, `${resource}:write`]);
  const known = [...scopes, ...(defaults.security?.apiKey ?? [])];
  if (defaults.ownContract === 'unknown') return new Set([...known, ...GATEWAY_SCOPES]);
  return new Set(defaults.ownContract === undefined ? known : known.filter((scope) => !isGatewayScope(scope)));
}

/** Whether the document says that the service answers an operation without a credential. */
export function isPublicInDocument(root: JsonObject, operation: JsonObject): boolean {
  const required = operation.security ?? root.security;
  if (!Array.isArray(required)) return false;
  return required.length === 0 || required.some((one) => isRecord(one) && Object.keys(one).length === 0);
}

/** One operation whose security is to be determined. */
interface SecurityDefaults {
  readonly document: ContractDocument;
  /** Its last member is the method. */
  readonly place: readonly string[];
  readonly operation: JsonObject;
  /** `says` are all settings of the operation; `own` are the settings that the document itself declares. */
  readonly says: SecuritySettings;
  readonly own: Extensions;
  /** The scopes that the operation may require; undefined for any scope. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** Whether clients may present the gateway's user name and password for the upstream. */
  readonly acceptsBasic: boolean;
}

type Complain = (path: readonly (string | number)[], reason: string, remedy: string) => undefined;

/**
 * Returns the alternatives, of which a caller must satisfy one; empty for a public operation. Returns undefined after a mistake, because an
 * operation that is neither secured nor declared public is never served.
 */
export function operationSecurity(
  defaults: SecurityDefaults,
  mistakes: Mistake[],
): readonly SecurityAlternative[] | undefined {
  const { document, place, operation, says, own } = defaults;
  const complain: Complain = (path, reason, remedy) => {
    mistakes.push(document.position().mistakeAt(path, reason, remedy));
    return undefined;
  };
  if (says.public && defaults.says.ownContract === 'here')
    return complain(
      place,
      "an operation of the gateway's own contract cannot be public.",
      'Add security with a scope.',
    );
  if (own.public && Array.isArray(operation.security) && operation.security.length > 0) {
    const remedy = 'Remove security here, or x-gateway-public.';
    return complain([...place, 'security'], 'this operation is declared public and secured at once.', remedy);
  }
  if (says.public) return [];
  const { security } = says;
  const alternatives =
    security === undefined || !saysScopes(security)
      ? documentAlternatives(defaults, complain)
      : entryAlternatives(security, defaults, complain);
  return security?.sessions === true ? alternatives && withSessions(alternatives) : alternatives;
}

function saysScopes({ apiKey, read, write, scopes }: EntrySecurity): boolean {
  return (apiKey ?? read ?? write ?? scopes) !== undefined;
}

/** Returns the alternatives, and for each a second alternative with a session instead of a key. */
function withSessions(alternatives: readonly SecurityAlternative[]): SecurityAlternative[] {
  const ofKeys = alternatives.filter(({ scheme }) => scheme === 'apiKey');
  return [...alternatives, ...ofKeys.map(({ scopes }) => ({ scheme: 'session' as const, scopes }))];
}

/** Returns the alternatives by `security` of the document. */
function documentAlternatives(
  defaults: SecurityDefaults,
  complain: Complain,
): readonly SecurityAlternative[] | undefined {
  const { document, place, operation } = defaults;
  const required = operation.security ?? document.root.security;
  // The linter has reported another value.
  if (required !== undefined && !Array.isArray(required)) return undefined;
  if (required === undefined || required.length === 0) {
    const remedy = 'Add security with a scope or x-gateway-public: true, or say either in its entry of upstreams.yaml.';
    return complain(place, 'this operation is neither secured nor declared public.', remedy);
  }
  const owner = operation.security === undefined ? ['security'] : [...place, 'security'];
  const alternatives = required.map((requirement, index) =>
    toAlternative(defaults, [...owner, index], requirement as JsonObject, complain),
  );
  return alternatives.includes(undefined) ? undefined : (alternatives as SecurityAlternative[]);
}

function toAlternative(
  { document, scopes, acceptsBasic }: SecurityDefaults,
  path: readonly (string | number)[],
  requirement: JsonObject,
  complain: Complain,
): SecurityAlternative | undefined {
  if (!isRecord(requirement) || !Object.values(requirement).every(Array.isArray)) return undefined;
  const [name, another] = Object.keys(requirement);
  if (name === undefined) {
    const remedy = 'Remove the empty alternative {}, or security altogether and add x-gateway-public: true.';
    return complain(path, 'this allows requests both with a key and without one.', remedy);
  }
  const override = 'or override it by security in its entry of upstreams.yaml.';
  if (another !== undefined) {
    const reason = `${name} and ${another} are required together, but the gateway checks one credential only.`;
    const both = 'If the service itself requires both, add security and credential: { headers: … } to that entry.';
    return complain(path, reason, `List them as alternatives, ${override} ${both}`);
  }
  const scheme = schemeOf(document.root, name);
  if (scheme === undefined) {
    const schemes = Object.keys(objectAt(document.root.components, 'securitySchemes'));
    // The section may be misspelt, which is reported.
    if (document.isBroken && schemes.length === 0) return undefined;
    return complain(path, `there is no security scheme "${name}".`, suggest(name, schemes));
  }
  if (document.isBroken && !isWellFormed(scheme)) return undefined;
  const kind = kindOf(scheme);
  const wanted = (requirement[name] as unknown[]).map(String);
  if (kind === 'basic' && acceptsBasic) {
    if (wanted.length === 0) return { scheme: 'basic', scopes: [] };
    return complain([...path, name], 'a user name and password have no scopes.', 'Write an empty list [] here.');
  }
  if (kind !== 'bearer' && kind !== 'session') {
    const reason = `the gateway does not check credentials of the security scheme "${name}".`;
    const credential =
      kind === 'basic'
        ? 'Add basicForClients: true and a basic credential to its entry of upstreams.yaml, or use'
        : 'Use';
    // At the scheme, because it is one mistake for all operations that require it.
    const place = ['components', 'securitySchemes', name];
    if (scheme.type === 'http' && /^(jwt|token|api_?key|oauth2?|bear\w*)$/.test(kind ?? ''))
      return complain([...place, 'scheme'], `HTTP has no scheme "${scheme.scheme}".`, 'Write scheme: bearer.');
    return complain(place, reason, `${credential} a scheme of type http with scheme bearer, ${override}`);
  }
  const unknown = scopes === undefined ? [] : wanted.filter((scope) => !scopes.has(scope));
  for (const scope of unknown)
    complain([...path, name], `the scope "${scope}" is unknown.`, scopeRemedy(scope, scopes, document.root));
  return unknown.length > 0 ? undefined : { scheme: kind === 'session' ? 'session' : 'apiKey', scopes: wanted };
}

/** Returns the scope that is probably meant, or else the member of the entry that accepts all scopes of the document. */
function scopeRemedy(scope: string, scopes: Iterable<string> = [], root: JsonObject): string {
  const near = closest(scope, [...scopes]);
  if (near !== undefined) return `Did you mean "${near}"?`;
  // An entry of another service cannot require a scope of the gateway itself.
  if (isGatewayScope(scope)) return suggest(scope, scopes);
  const kept = scopesIn(root).map((one) => `${JSON.stringify(one)}: ${JSON.stringify(one)}`);
  return `To keep the scopes of the document, write in its entry of upstreams.yaml: security: { scopes: { ${kept.join(', ')} } }`;
}

/** Returns the scopes that the operations of a document require. */
function scopesIn(root: JsonObject): string[] {
  const items = Object.values(objectAt(root, 'paths')).map((value) => follow(root, { value, pointer: '' }).value);
  const operations = items.filter(isRecord).flatMap((item) => Object.values(item));
  const requirements = [root, ...operations].flatMap((owner) => (isRecord(owner) ? owner.security : []));
  const lists = requirements.filter(isRecord).flatMap((requirement) => Object.values(requirement));
  return [...new Set(lists.flat().map(String))].sort();
}

/**
 * Returns `session` for the cookie that the gateway sets at a login, otherwise the scheme of HTTP; undefined if there is no such scheme.
 */
function kindOf({ type, scheme, in: place, name }: JsonObject): string | undefined {
  if (type === 'http') return String(scheme).toLowerCase();
  return type === 'apiKey' && place === 'cookie' && isSessionCookieName(String(name)) ? 'session' : undefined;
}

/** Whether a security scheme has the members of its type. The linter reports others. */
function isWellFormed({ type, scheme, in: place, name }: JsonObject): boolean {
  if (type === 'http') return typeof scheme === 'string';
  if (type === 'apiKey') return /^(query|header|cookie)$/.test(String(place)) && typeof name === 'string';
  return /^(oauth2|openIdConnect|mutualTLS|basic)$/.test(String(type));
}

function schemeOf(root: JsonObject, name: string): JsonObject | undefined {
  const schemes = member(root, { value: root.components, pointer: '/components' }, 'securitySchemes');
  const { value } = member(root, schemes, name);
  return isRecord(value) ? value : undefined;
}

/** The safe methods of RFC 9110 section 9.2.1, and QUERY, which is also safe. */
const SAFE_METHODS = new Set(['get', 'head', 'options', 'trace', 'query']);

/** Returns the alternatives by `security` of the entry. */
function entryAlternatives(
  { apiKey, read, write, scopes }: EntrySecurity,
  { document, operation, place }: SecurityDefaults,
  complain: Complain,
): readonly SecurityAlternative[] | undefined {
  if (apiKey !== undefined) return [{ scheme: 'apiKey', scopes: apiKey }];
  const byMethod = SAFE_METHODS.has(place.at(-1) as string) ? read : write;
  const required = operation.security ?? document.root.security;
  const requirements = scopes !== undefined && Array.isArray(required) ? required.filter(isRecord) : [];
  const owner = operation.security === undefined ? ['security'] : [...place, 'security'];
  const alternatives: SecurityAlternative[] = [];
  let isUnknown = false;
  for (const [index, requirement] of requirements.entries()) {
    // The scopes of schemes that are required together add up. The credentials are the gateway's own, whatever the document declares.
    const wanted = Object.values(requirement).flatMap((list) => (Array.isArray(list) ? list.map(String) : []));
    const granted = wanted.map((name) => (Object.hasOwn(scopes ?? {}, name) ? scopes?.[name] : undefined));
    const missing = wanted.find((_, at) => granted[at] === undefined);
    if (missing !== undefined) {
      isUnknown = true;
      const remedy = `Add it under security.scopes in its entry of upstreams.yaml. ${suggest(missing, Object.keys(scopes ?? {}))}`;
      complain([...owner, index], `the scope "${missing}" of the document has no counterpart.`, remedy);
    } else if (wanted.length > 0) {
      alternatives.push({ scheme: 'apiKey', scopes: [...new Set(granted.flatMap((list) => list ?? []))] });
    }
  }
  if (isUnknown) return undefined;
  if (alternatives.length > 0) return alternatives;
  if (byMethod !== undefined) return [{ scheme: 'apiKey', scopes: byMethod }];
  const remedy =
    'Add read and write to security in its entry of upstreams.yaml: they are for operations without scopes.';
  return complain(place, 'the document requires no scope for this operation.', remedy);
}
