// Which credentials an operation asks for: the contract's security requirements, or what its upstream entry says instead.

import { type Mistake, suggest } from '../config-errors.ts';
import type { SecurityAlternative } from '../exchange.ts';
import type { ContractDocument, JsonObject } from './document.ts';
import type { Extensions } from './extensions.ts';
import type { DocumentDefaults } from './operations.ts';
import { isObject, member, objectAt } from './pointer.ts';

/**
 * Scopes that operations of this document may ask for: `<resource>:read|write`, where the resource is one of its tags, a segment of
 * one of its paths, or its upstream, and whatever the upstream entry itself names. It exists to catch misspelt scopes, which would
 * otherwise lock every caller out.
 */
export function knownScopes(root: JsonObject, defaults: DocumentDefaults): ReadonlySet<string> {
  const resources = new Set<string>([defaults.upstream]);
  if (typeof root['x-gateway-upstream'] === 'string') resources.add(root['x-gateway-upstream']);
  for (const tag of Array.isArray(root.tags) ? root.tags : []) if (isObject(tag)) resources.add(String(tag.name));
  for (const template of Object.keys(objectAt(root, 'paths'))) {
    for (const segment of template.split('/')) if (/^(?!v\d+$)[a-z][a-z0-9_-]*$/.test(segment)) resources.add(segment);
  }
  const scopes = [...resources].flatMap((resource) => [`${resource}:read`, `${resource}:write`]);
  return new Set([...scopes, ...(defaults.security?.apiKey ?? [])]);
}

/** One operation whose security is to be settled. */
export interface SecurityDefaults {
  readonly document: ContractDocument;
  readonly place: readonly string[];
  readonly operation: JsonObject;
  /** Everything that is said about it, and the part of it that the document itself says. */
  readonly says: DocumentDefaults;
  readonly own: Extensions;
  readonly scopes: ReadonlySet<string>;
  /** Whether there is a user name and password that callers could show. */
  readonly acceptsBasic: boolean;
}

type Complain = (path: readonly (string | number)[], reason: string, remedy: string) => undefined;

/**
 * The alternatives that let a caller into one operation; empty: public. Returns `undefined` after a mistake: an operation that is
 * neither secured nor declared public is never served.
 */
export function operationSecurity(
  asked: SecurityDefaults,
  mistakes: Mistake[],
): readonly SecurityAlternative[] | undefined {
  const { document, place, operation, says, own } = asked;
  const complain: Complain = (path, reason, remedy) => {
    mistakes.push(document.position().mistakeAt(path, reason, remedy));
    return undefined;
  };
  if (own.public && Array.isArray(operation.security) && operation.security.length > 0) {
    const remedy = 'Remove security here, or x-gateway-public.';
    return complain([...place, 'security'], 'this operation is declared public and secured at once.', remedy);
  }
  if (says.public) return [];
  if (says.security) return [{ scheme: 'apiKey', scopes: says.security.apiKey }];
  const required = operation.security ?? document.root.security;
  if (!Array.isArray(required) || required.length === 0) {
    const remedy = 'Add security with a scope or x-gateway-public: true, or say either in its entry of upstreams.yaml.';
    return complain(place, 'this operation is neither secured nor declared public.', remedy);
  }
  const owner = operation.security === undefined ? ['security'] : [...place, 'security'];
  const alternatives = required.map((requirement, index) =>
    toAlternative(asked, [...owner, index], requirement as JsonObject, complain),
  );
  return alternatives.includes(undefined) ? undefined : (alternatives as SecurityAlternative[]);
}

function toAlternative(
  { document, scopes, acceptsBasic }: SecurityDefaults,
  path: readonly (string | number)[],
  requirement: JsonObject,
  complain: Complain,
): SecurityAlternative | undefined {
  const [name, another] = Object.keys(requirement);
  if (name === undefined) {
    const remedy = 'Remove the empty alternative {}, or security altogether and add x-gateway-public: true.';
    return complain(path, 'this lets callers in with a key and without one.', remedy);
  }
  const override = 'or override it by security in its entry of upstreams.yaml.';
  if (another !== undefined) {
    const reason = `${name} and ${another} are asked for together, and the gateway checks one credential.`;
    return complain(path, reason, `List them as alternatives, ${override}`);
  }
  const scheme = schemeOf(document.root, name);
  if (scheme === undefined) {
    const schemes = Object.keys(objectAt(document.root.components, 'securitySchemes'));
    return complain(path, `there is no security scheme "${name}".`, suggest(name, schemes));
  }
  const kind = scheme.type === 'http' ? String(scheme.scheme).toLowerCase() : undefined;
  const wanted = (requirement[name] as unknown[]).map(String);
  if (kind === 'basic' && acceptsBasic) {
    if (wanted.length === 0) return { scheme: 'basic', scopes: [] };
    return complain([...path, name], 'a user name and password have no scopes.', 'Write an empty list [] here.');
  }
  if (kind !== 'bearer') {
    const reason = `the gateway does not check credentials of the security scheme "${name}".`;
    const credential = kind === 'basic' ? 'Give its entry of upstreams.yaml a credential (basic), or use' : 'Use';
    return complain(path, reason, `${credential} a scheme of type http with scheme bearer, ${override}`);
  }
  const unknown = wanted.filter((scope) => !scopes.has(scope));
  for (const scope of unknown) complain([...path, name], `the scope "${scope}" is unknown.`, suggest(scope, scopes));
  return unknown.length > 0 ? undefined : { scheme: 'apiKey', scopes: wanted };
}

function schemeOf(root: JsonObject, name: string): JsonObject | undefined {
  const schemes = member(root, { value: root.components, pointer: '/components' }, 'securitySchemes');
  const { value } = member(root, schemes, name);
  return isObject(value) ? value : undefined;
}
