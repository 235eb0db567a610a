// Which credentials an operation asks for: the contract's security requirements, or what its upstream entry says instead.

import type { SecurityAlternative } from '../exchange.ts';
import { type Mistake, suggest } from '../mistakes.ts';
import type { ContractDocument, JsonObject } from './document.ts';
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
    for (const segment of template.split('/')) if (/^[a-z][a-z0-9_-]*$/.test(segment)) resources.add(segment);
  }
  const scopes = [...resources].flatMap((resource) => [`${resource}:read`, `${resource}:write`]);
  return new Set([...scopes, ...(defaults.security?.apiKey ?? [])]);
}

/**
 * The alternatives that let a caller into one operation; empty: public. Returns `undefined` after a mistake: an operation that is
 * neither secured nor declared public is never served.
 */
export function securityOf(
  document: ContractDocument,
  place: readonly string[],
  operation: JsonObject,
  says: DocumentDefaults,
  scopes: ReadonlySet<string>,
  mistakes: Mistake[],
): readonly SecurityAlternative[] | undefined {
  if (says.public) return [];
  if (says.security) return [{ scheme: 'apiKey', scopes: says.security.apiKey }];
  const owner = operation.security === undefined ? [] : place;
  const required = operation.security ?? document.root.security;
  const at = (path: readonly (string | number)[], reason: string, remedy: string) => {
    mistakes.push(document.position().mistakeAt(path, reason, remedy));
    return undefined;
  };
  if (
    !Array.isArray(required) ||
    required.length === 0 ||
    required.some((alternative) => Object.keys(alternative).length === 0)
  ) {
    const remedy =
      'Add security with a scope, or x-gateway-public: true, or say either in its entry of upstreams.yaml.';
    return at(place, 'this operation is neither secured nor declared public.', remedy);
  }
  const alternatives: SecurityAlternative[] = [];
  let complete = true;
  for (const [index, requirement] of required.entries()) {
    const names = Object.keys(requirement as JsonObject);
    const name = names[0] as string;
    const path = [...owner, 'security', index];
    if (names.length > 1) {
      complete = false;
      at(
        path,
        'several credentials at once are not supported.',
        'List them as alternatives, or override them by security in upstreams.yaml.',
      );
      continue;
    }
    if (!isApiKeyScheme(document.root, name)) {
      complete = false;
      const remedy = 'Use a scheme of type http with scheme bearer, or override it by security in upstreams.yaml.';
      at(path, `the gateway does not check credentials of the security scheme "${name}".`, remedy);
      continue;
    }
    const wanted = (requirement as JsonObject)[name] as unknown[];
    for (const scope of wanted) {
      if (scopes.has(String(scope))) continue;
      complete = false;
      at([...path, name], `the scope "${scope}" is unknown.`, suggest(String(scope), scopes));
    }
    alternatives.push({ scheme: 'apiKey', scopes: wanted.map(String) });
  }
  return complete ? alternatives : undefined;
}

/** API keys travel as Bearer credentials. */
function isApiKeyScheme(root: JsonObject, name: string): boolean {
  const schemes = member(root, { value: root.components, pointer: '/components' }, 'securitySchemes');
  const scheme = member(root, schemes, name).value;
  return isObject(scheme) && scheme.type === 'http' && String(scheme.scheme).toLowerCase() === 'bearer';
}
