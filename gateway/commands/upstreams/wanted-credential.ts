// Derives the credential that a service asks for from the security schemes of its document. Pure.

import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import { isPublicInDocument } from '../../contract/operations/security.ts';
import { isRecord, type JsonObject, objectAt } from '../../contract/pointer.ts';
import { credentialFieldsOf } from '../../shared/http/owned-headers.ts';
import { asHttp, keyKind, mapHttp, type SchemePart, schemePartOf, schemesIn, unsentWords } from './scheme-parts.ts';

/** A credential that a service asks for, by its document. */
export interface WantedCredential {
  /** `bearer`, `basic`, or `apiKey` with the name of the header; several joined by ` + `. */
  readonly kind: string;
  /** The header fields, in lower case. */
  readonly fields: readonly string[];
  /** The value of `credential` in upstreams.yaml. */
  readonly setting: string;
  /** The entry of the secrets store. */
  readonly secret: string;
  /** The value of the secret, as it is written in a shell. */
  readonly value: string;
  /** The credential in words, as in `a user name and a password`. */
  readonly asked: string;
}

/**
 * Returns the credential of the document that the gateway can send; undefined if there is none. If operations require different ones, it
 * is all of them at once. If they are in the same header, it is the one with the most headers, or the most frequent one.
 *
 * @param name the name of the entry
 */
export function wantedCredential(name: string, { root }: { readonly root: JsonObject }): WantedCredential | undefined {
  const schemes = mapHttp(schemesIn(root));
  const requirements = requirementsIn(root);
  const together = wantedByAll(
    name,
    requirements.map((list) => partsBy(schemes, list)),
  );
  if (together !== undefined) return together;
  const required = requirements.flatMap((list) => wantedBy(name, schemes, list) ?? []);
  const countOf = ({ kind }: WantedCredential) => required.filter((one) => one.kind === kind).length;
  const [first] = required
    .map((wanted) => ({ wanted, size: wanted.fields.length, count: countOf(wanted) }))
    .sort((one, other) => other.size - one.size || other.count - one.count);
  if (first !== undefined || requirements.flat().length > 0) return first?.wanted;
  return Object.values(schemesIn(root))
    .map((scheme) => toWanted(name, partsOf([scheme]) ?? []))
    .find((wanted) => wanted !== undefined);
}

/**
 * Returns the credential that the service asks for at an operation; undefined if its document does not say. Without `security` in the
 * entry, the document describes the credentials of clients, and not those of the service.
 */
export function credentialAt(entry: UpstreamEntry, asked: ContractOperation): WantedCredential | undefined {
  const [first] = partsAt(entry, asked);
  return first && toWanted(asked.operation.entry, first);
}

/** Returns the credential that serves all these operations of an entry; undefined if some of them need the same header. */
export function credentialForAll(
  entry: UpstreamEntry,
  operations: readonly ContractOperation[],
): WantedCredential | undefined {
  const [first] = operations;
  return (
    first &&
    wantedByAll(
      first.operation.entry,
      operations.map((one) => partsAt(entry, one)),
    )
  );
}

/** Returns the alternatives of an operation that the gateway can send. */
function partsAt(entry: UpstreamEntry, { document: { root }, located }: ContractOperation): SchemePart[][] {
  if (!describesService(entry) || !isRecord(located.value)) return [];
  const schemes = mapHttp(schemesIn(root));
  const required = located.value.security ?? root.security;
  if (Array.isArray(required)) return partsBy(schemes, required);
  if (requirementsIn(root).length > 0) return [];
  return partsBy(
    schemes,
    Object.keys(schemes).map((name) => ({ [name]: [] })),
  );
}

/**
 * Returns in words what the document requires, if the gateway can send none of it; undefined if the gateway can send it, or the document
 * requires nothing.
 *
 * @param operation undefined for the operations of the document as a whole
 */
export function unmetRequirement(root: JsonObject, operation?: JsonObject): string | undefined {
  const own = operation && (operation.security ?? root.security);
  const required = (operation === undefined ? requirementsIn(root).flat() : [own ?? []].flat()).filter(isRecord);
  const schemes = schemesIn(root);
  const [first] = required.map((together) => Object.keys(together).map((name) => objectAt(schemes, name)));
  if (first === undefined || first.length === 0 || required.some((one) => Object.keys(one).length === 0))
    return undefined;
  const met = required.some((together) => wantedBy('any', mapHttp(schemes), [together]) !== undefined);
  return met
    ? undefined
    : first.map((scheme) => schemePartOf(asHttp(scheme))?.asked ?? unsentWords(scheme)).join(' and ');
}

/** Returns the kind of credential at an operation, by which a trial groups operations. */
export function kindAt(entry: UpstreamEntry, asked: ContractOperation): string {
  if (!describesService(entry)) return ANY_KIND;
  const { root } = asked.document;
  const operation = isRecord(asked.located.value) ? asked.located.value : {};
  const isUnsaid = operation.security === undefined && root.security === undefined;
  if (isPublicInDocument(root, operation) || (isUnsaid && requirementsIn(root).length > 0)) return 'none';
  const wanted = credentialAt(entry, asked);
  if (wanted === undefined) return ANY_KIND;
  return isSent(entry, wanted) ? SENT_KIND : wanted.kind;
}

/**
 * Returns the lists of alternatives in the document. If there are any, operations without `security` need no credential. Other documents
 * only list their schemes, and may mean them for all operations.
 */
function requirementsIn(root: JsonObject): readonly unknown[][] {
  const known = REQUIREMENTS.get(root) ?? findRequirements(root);
  REQUIREMENTS.set(root, known);
  return known;
}

/** Documents, each searched once, because an answer about each of thousands of operations needs it. */
const REQUIREMENTS = new WeakMap<JsonObject, readonly unknown[][]>();

function findRequirements(root: JsonObject): readonly unknown[][] {
  const operations = Object.values(objectAt(root, 'paths')).flatMap((item) =>
    isRecord(item) ? Object.values(item) : [],
  );
  return [root, ...operations].flatMap((one) => (isRecord(one) && Array.isArray(one.security) ? [one.security] : []));
}

/** The document does not say which credential the service asks for. */
export const ANY_KIND = 'any';
/** The credential of the entry contains what the service asks for. */
export const SENT_KIND = 'sent';

/** Whether the credential of the entry contains this one. */
export function isSent({ credential: sent }: UpstreamEntry, { kind, fields }: WantedCredential): boolean {
  if (sent === undefined) return false;
  if (sent.kind === 'headers') return fields.every((field) => sent.names.includes(field));
  return kind === (sent.kind === 'apiKey' ? keyKind(sent.header) : sent.kind);
}

/** Whether this credential contains the headers that the entry sends. */
export function extendsSent({ credential: sent }: UpstreamEntry, { fields }: WantedCredential): boolean {
  return sent !== undefined && credentialFieldsOf(sent).every((field) => fields.includes(field));
}

function describesService({ security, public: isPublic }: UpstreamEntry): boolean {
  return security !== undefined || isPublic === true;
}

/** Returns the credential for the first alternative that the gateway can send. */
function wantedBy(name: string, schemes: JsonObject, alternatives: readonly unknown[]): WantedCredential | undefined {
  const [first] = partsBy(schemes, alternatives);
  return first && toWanted(name, first);
}

/** Returns the alternatives that the gateway can send. The schemes of one alternative are required together. */
function partsBy(schemes: JsonObject, alternatives: readonly unknown[]): SchemePart[][] {
  return alternatives.filter(isRecord).flatMap((together) => {
    const parts = partsOf(Object.keys(together).map((one) => schemes[one]));
    return parts === undefined ? [] : [parts];
  });
}

/** Returns the parts for schemes that are required together; undefined if the gateway cannot send them. */
function partsOf(schemes: readonly unknown[]): SchemePart[] | undefined {
  const parts = schemes.flatMap((scheme) => (isRecord(scheme) ? (schemePartOf(scheme) ?? []) : []));
  const isWhole = parts.length > 0 && new Set(fieldsOf(parts)).size === schemes.length;
  return isWhole ? parts : undefined;
}

/** Returns the credential that meets one alternative of each list; undefined if two of them need the same header. */
function wantedByAll(name: string, lists: readonly SchemePart[][][]): WantedCredential | undefined {
  const chosen = new Map<string, SchemePart>();
  // Lists without a choice come first, because what they need may meet an alternative of the others.
  for (const alternatives of lists.toSorted((one, other) => one.length - other.length)) {
    const isMet = alternatives.some((parts) => parts.every(({ kind }) => chosen.has(kind)));
    if (!isMet) for (const part of alternatives[0] ?? []) chosen.set(part.kind, part);
  }
  const parts = [...chosen.values()];
  const isSendable = new Set(fieldsOf(parts)).size === parts.length;
  return isSendable ? toWanted(name, parts) : undefined;
}

function fieldsOf(parts: readonly SchemePart[]): string[] {
  return parts.map(({ header }) => header.toLowerCase());
}

/** Returns the credential that sends all these parts; undefined if there are none. */
function toWanted(name: string, parts: readonly SchemePart[]): WantedCredential | undefined {
  const [only] = parts;
  if (only === undefined) return undefined;
  const word = name.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  const isOne = parts.length === 1;
  const secret = `${word}_${isOne ? only.holds : 'headers'}`.slice(0, 64);
  const several = `{ headers: { names: [${parts.map(({ header }) => header).join(', ')}], secret: ${secret} } }`;
  return {
    kind: parts.map(({ kind }) => kind).join(' + '),
    fields: fieldsOf(parts),
    setting: isOne ? only.setting(secret) : several,
    secret,
    value: isOne ? '…' : `$'${parts.map(({ header, value }) => `${header}: ${value}`).join('\\n')}'`,
    asked: parts.map(({ asked }) => asked).join(', and at once for '),
  };
}
