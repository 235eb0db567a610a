// Derives the credential that a service asks for from the security schemes of its document. Pure.

import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import { isPublicInDocument } from '../../contract/operations/security.ts';
import { isObject, type JsonObject, objectAt } from '../../contract/pointer.ts';
import { mayCarryCredential } from '../../shared/http/owned-headers.ts';
import { isFieldName } from '../../shared/http/words.ts';

/** A credential that a service asks for, by its document. */
export interface WantedCredential {
  /** `bearer`, `basic`, or `apiKey` with the name of the header. */
  readonly kind: string;
  /** The value of `credential` in upstreams.yaml. */
  readonly setting: string;
  /** The entry of the secrets store. */
  readonly secret: string;
  /** The credential in words, as in `a user name and a password`. */
  readonly asked: string;
}

/** Returns the first credential of the document that the gateway can send; undefined if there is none. @param name of the entry */
export function wantedCredential(name: string, { root }: { readonly root: JsonObject }): WantedCredential | undefined {
  return firstOf(name, Object.values(schemesIn(root)));
}

/**
 * Returns the credential that the service asks for at an operation; undefined if its document does not say. Without `security` in the
 * entry, the document describes the credentials of clients, and not those of the service.
 */
export function credentialAt(entry: UpstreamEntry, asked: ContractOperation): WantedCredential | undefined {
  const { operation, document, located } = asked;
  const { root } = document;
  if (!describesService(entry) || !isObject(located.value)) return undefined;
  const schemes = schemesIn(root);
  const required = located.value.security ?? root.security;
  if (!Array.isArray(required))
    return requiresAnywhere(root) ? undefined : firstOf(operation.entry, Object.values(schemes));
  const names = required.filter(isObject).flatMap((alternative) => Object.keys(alternative));
  return firstOf(
    operation.entry,
    names.map((name) => asHttp(objectAt(schemes, name))),
  );
}

/** Returns the kind of credential at an operation, by which a trial groups operations. */
export function kindAt(entry: UpstreamEntry, asked: ContractOperation): string {
  if (!describesService(entry)) return ANY_KIND;
  const { root } = asked.document;
  const operation = isObject(asked.located.value) ? asked.located.value : {};
  const isUnsaid = operation.security === undefined && root.security === undefined;
  if (isPublicInDocument(root, operation) || (isUnsaid && requiresAnywhere(root))) return 'none';
  return credentialAt(entry, asked)?.kind ?? ANY_KIND;
}

/**
 * Whether the document requires a credential for anything. Then operations without `security` need none. Other documents only list their
 * schemes, and may mean them for all operations.
 */
function requiresAnywhere(root: JsonObject): boolean {
  const known = REQUIRING.get(root) ?? findsRequirement(root);
  REQUIRING.set(root, known);
  return known;
}

/** Documents, each searched once, because an answer about each of thousands of operations needs it. */
const REQUIRING = new WeakMap<JsonObject, boolean>();

function findsRequirement(root: JsonObject): boolean {
  const operations = Object.values(objectAt(root, 'paths')).flatMap((item) =>
    isObject(item) ? Object.values(item) : [],
  );
  return [root, ...operations].some((one) => isObject(one) && Array.isArray(one.security));
}

/** The document does not say which credential the service asks for. */
export const ANY_KIND = 'any';

/** Returns the kind of the credential that the gateway sends; undefined if the entry has none. */
export function sentKind({ credential: sent }: UpstreamEntry): string | undefined {
  if (sent === undefined) return undefined;
  return sent.kind === 'apiKey' ? keyKind(sent.header) : sent.kind;
}

function describesService({ security, public: isPublic }: UpstreamEntry): boolean {
  return security !== undefined || isPublic === true;
}

function schemesIn(root: JsonObject): JsonObject {
  return { ...objectAt(root, 'securityDefinitions'), ...objectAt(objectAt(root, 'components'), 'securitySchemes') };
}

/** OAuth and OpenID Connect are ways to get a token, which is sent like any other. */
function asHttp(scheme: JsonObject): JsonObject {
  return scheme.type === 'oauth2' || scheme.type === 'openIdConnect' ? { type: 'http', scheme: 'bearer' } : scheme;
}

function firstOf(name: string, schemes: readonly unknown[]): WantedCredential | undefined {
  const word = name.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  const secretFor = (what: string) => `${word}_${what}`.slice(0, 64);
  for (const scheme of schemes.filter(isObject)) {
    const [kind, header] = [String(scheme.scheme ?? scheme.type).toLowerCase(), String(scheme.name)];
    const isKey = scheme.type === 'apiKey' && scheme.in === 'header';
    if (isKey && isFieldName(header) && mayCarryCredential(header.toLowerCase())) {
      const secret = secretFor('key');
      const setting = `{ apiKey: { header: ${header}, secret: ${secret} } }`;
      return { kind: keyKind(header), setting, secret, asked: `a key in ${header}` };
    }
    if (kind === 'bearer') {
      const secret = secretFor('token');
      const asked = 'a token in Authorization: Bearer';
      return { kind: 'bearer', setting: `{ bearer: { secret: ${secret} } }`, secret, asked };
    }
    if (kind === 'basic') {
      const secret = secretFor('password');
      const setting = `{ basic: { user: gateway, secret: ${secret} } }`;
      return { kind: 'basic', setting, secret, asked: 'a user name and a password' };
    }
  }
  return undefined;
}

function keyKind(header: string): string {
  return `apiKey ${header.toLowerCase()}`;
}
