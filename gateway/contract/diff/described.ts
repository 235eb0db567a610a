// An operation as a comparison needs it: where it is for clients, what it takes and answers, and who is let in.

import type { ContractDocument, JsonObject } from '../document.ts';
import type { ContractOperation } from '../operations.ts';
import { isObject, type Located, member, objectAt } from '../pointer.ts';

/** One way to be let in: every scheme of it is asked for. Empty: without credentials. */
export type Alternative = readonly { readonly scheme: string; readonly scopes: readonly string[] }[];

export interface Described {
  readonly root: JsonObject;
  readonly file: string;
  readonly id: string;
  readonly method: string;
  /** For clients: the prefix of its document, and the template. */
  readonly path: string;
  readonly place: readonly string[];
  readonly located: Located;
  /** Those of the path and the operation, references followed. */
  readonly parameters: readonly Located[];
  /** Any one lets a caller in; none: public. */
  readonly security: readonly Alternative[];
  readonly deprecated: boolean;
}

/** The operations of a configuration, as they are served: their security is what the gateway checks. */
export function describedOf({ operation, document, located, parameters }: ContractOperation): Described {
  const schemes = { apiKey: 'http bearer', basic: 'http basic' };
  return {
    root: document.root,
    file: document.file,
    id: operation.id,
    method: operation.method,
    path: operation.path,
    place: placeOf(operation.method, operation.path.slice(operation.publicPrefix.length)),
    located,
    parameters,
    security: operation.security.map(({ scheme, scopes }) => [{ scheme: schemes[scheme], scopes }]),
    deprecated: isObject(located.value) && located.value.deprecated === true,
  };
}

/** The same of operations that are not served, by what their document says of its security. */
export function describedAlone(entry: ContractOperation): Described {
  return { ...describedOf(entry), security: securityIn(entry.document, entry.located.value) };
}

function securityIn({ root }: ContractDocument, operation: unknown): Alternative[] {
  const required = isObject(operation) && operation.security !== undefined ? operation.security : root.security;
  if (!Array.isArray(required)) return [];
  const alternatives = required.map(
    (requirement): Alternative =>
      Object.entries(isObject(requirement) ? requirement : {}).map(([name, scopes]) => ({
        scheme: schemeText(root, name),
        scopes: Array.isArray(scopes) ? scopes.map(String) : [],
      })),
  );
  return alternatives.some((alternative) => alternative.length === 0) ? [] : alternatives;
}

/** What a scheme is, whatever its name in the document. */
function schemeText(root: JsonObject, name: string): string {
  const schemes: Located = {
    value: objectAt(root.components, 'securitySchemes'),
    pointer: '/components/securitySchemes',
  };
  const scheme = member(root, schemes, name).value;
  if (!isObject(scheme)) return name;
  if (scheme.type === 'http') return `http ${String(scheme.scheme).toLowerCase()}`;
  if (scheme.type === 'apiKey') return `${scheme.in} ${String(scheme.name).toLowerCase()}`;
  return String(scheme.type);
}

function placeOf(method: string, template: string): string[] {
  return ['paths', template, method.toLowerCase()];
}

/** A member of the operation itself, references followed. */
export function partOf({ root, located }: Described, name: string): Located {
  return member(root, located, name);
}

export function namesIn({ value }: Located): string[] {
  return isObject(value) ? Object.keys(value).filter((name) => !name.startsWith('x-')) : [];
}
