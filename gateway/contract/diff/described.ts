// Describes operations in the form that a comparison needs, by their public paths, their input and answers, and their security.

import { isSessionCookieName } from '../../shared/http/session-cookies.ts';
import { METHODS } from '../../shared/http/words.ts';
import { SCOPES } from '../merged/security.ts';
import { webhooksOf } from '../merged/webhooks.ts';
import type { ContractOperation } from '../operations/operations.ts';
import {
  child,
  follow,
  isRecord,
  itemsOf,
  type JsonObject,
  type LocatedValue,
  member,
  memberNames,
  objectAt,
  pathOf,
} from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import type { DiffPlace, ReportFinding } from './findings.ts';
import type { Comparer } from './schema.ts';

/** An alternative of authentication. All its schemes are required; it is empty if no credentials are. */
export type Alternative = readonly { readonly scheme: string; readonly scopes: readonly string[] }[];

export interface Described {
  readonly root: JsonObject;
  readonly file: string;
  readonly id: string;
  readonly method: string;
  /** The public path: the prefix of its document and the template. */
  readonly path: string;
  readonly place: readonly string[];
  readonly located: LocatedValue;
  /** The parameters of the path and of the operation, references resolved. */
  readonly parameters: readonly LocatedValue[];
  /** The alternatives, one of which a caller has to satisfy; empty for a public operation. */
  readonly security: readonly Alternative[];
  readonly deprecated: boolean;
  /** Whether the service sends it to clients (webhooks.ts). */
  readonly isWebhook: boolean;
}

/** Describes a served operation, with the security that the gateway checks. */
function describedOf({ operation, document, located, parameters }: ContractOperation): Described {
  const schemes = { apiKey: 'http bearer', basic: 'http basic', session: 'cookie session' };
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
    deprecated: isRecord(located.value) && located.value.deprecated === true,
    isWebhook: false,
  };
}

/** Describes served operations, and the webhooks of their documents. */
export function describedServed(entries: readonly ContractOperation[]): Described[] {
  return [...entries.map(describedOf), ...describedWebhooks(entries)];
}

/** Describes an operation that is not served, with the security that its document declares. Published contracts state scopes separately. */
function describedAlone(entry: ContractOperation): Described {
  return { ...describedOf(entry), security: securityIn(entry.document, entry.located.value) };
}

function securityIn({ root }: ContractDocument, operation: unknown): Alternative[] {
  const own = isRecord(operation) ? (operation[SCOPES] ?? operation.security) : undefined;
  const required = own ?? root.security;
  if (!Array.isArray(required)) return [];
  const alternatives = required.map(
    (requirement): Alternative =>
      Object.entries(isRecord(requirement) ? requirement : {}).map(([name, scopes]) => ({
        scheme: schemeText(root, name),
        scopes: Array.isArray(scopes) ? scopes.map(String) : [],
      })),
  );
  return alternatives.some((alternative) => alternative.length === 0) ? [] : alternatives;
}

/** Names a scheme by its kind, independent of its name in the document. */
function schemeText(root: JsonObject, name: string): string {
  const schemes: LocatedValue = {
    value: objectAt(root.components, 'securitySchemes'),
    pointer: '/components/securitySchemes',
  };
  const scheme = member(root, schemes, name).value;
  if (!isRecord(scheme)) return name;
  if (scheme.type === 'http') return `http ${String(scheme.scheme).toLowerCase()}`;
  if (scheme.in === 'cookie' && isSessionCookieName(String(scheme.name))) return 'cookie session';
  if (scheme.type === 'apiKey') return `${scheme.in} ${String(scheme.name).toLowerCase()}`;
  return String(scheme.type);
}

/** Describes operations that are not served, and the webhooks of their documents. */
export function describedAll(entries: readonly ContractOperation[]): Described[] {
  return [...entries.map(describedAlone), ...describedWebhooks(entries)];
}

/** Describes the webhooks of the documents that these operations are from. */
function describedWebhooks(members: readonly ContractOperation[]): Described[] {
  return webhooksOf(members).flatMap(({ name, document: { root, file }, declared, item }) =>
    memberNames(declared)
      .filter((name) => (METHODS as readonly string[]).includes(name.toUpperCase()))
      .map((method) => {
        const located = child(declared, method);
        const parameters = [child(declared, 'parameters'), child(located, 'parameters')].flatMap(itemsOf);
        return {
          root,
          file,
          id: String(objectAt(item, method).operationId ?? name),
          method: method.toUpperCase(),
          path: name,
          place: pathOf(located.pointer),
          located,
          parameters: parameters.map((parameter) => follow(root, parameter)),
          security: [],
          deprecated: objectAt(item, method).deprecated === true,
          isWebhook: true,
        };
      }),
  );
}

/** Names an operation or a webhook for people. */
export function titleOf({ isWebhook, method, path }: Described): string {
  return isWebhook ? `webhook ${path}` : `${method} ${path}`;
}

function placeOf(method: string, template: string): string[] {
  return ['paths', template, method.toLowerCase()];
}

/** Returns a member of the operation itself, references resolved. */
export function partOf({ root, located }: Described, name: string): LocatedValue {
  return member(root, located, name);
}

/** Returns the member names of a located object without extensions. */
export function namesIn(located: LocatedValue): string[] {
  return memberNames(located).filter((name) => !name.startsWith('x-'));
}

/** The old and the new form of an operation with the same method and path. */
export interface OperationPair {
  readonly old: Described;
  readonly new: Described;
  readonly comparer: Comparer;
  readonly tell: ReportFinding;
  readonly at: DiffPlace;
}
