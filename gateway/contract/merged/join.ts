// Joins several contracts into one OpenAPI document for clients, with the paths, credentials and address of the gateway.

import type { Operation } from '../../exchange/operation.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { isRecord, type JsonObject, member } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import { type Copy, componentAt, forEachUsed } from './copy.ts';
import { nameComponents, type TakenNames } from './names.ts';
import { mergedSecurity, securitySchemes } from './security.ts';
import { webhooksOf } from './webhooks.ts';

/** The members of a document before its paths. */
export interface DocumentHead extends JsonObject {
  readonly openapi: string;
  readonly info: JsonObject;
  readonly servers: readonly { readonly url: string }[];
}

/** Yields the document as JSON, in pieces of a few milliseconds of work; some pieces are empty. */
export function* joinContracts(
  head: DocumentHead,
  members: readonly ContractOperation[],
  isDeprecated: (operation: Operation) => boolean,
): Generator<string> {
  const taken: TakenNames = new Map();
  const copies = new Map<ContractDocument, Copy>();
  const kinds = new Map<string, string[]>();
  const webhooks = webhooksOf(members);
  for (const [document, own] of Map.groupBy(members, (member) => member.document)) {
    const sent = webhooks.filter((webhook) => webhook.document === document).map(({ item }) => item);
    const used = yield* usedBy(document, own, sent);
    const idOf = operationIds(own);
    const { copy, added } = nameComponents({ document, used, taken, idOf });
    copies.set(document, copy);
    for (const [kind, name, text] of added) {
      const entry = `${JSON.stringify(name)}:${text}`;
      const entries = kinds.get(kind);
      if (entries) entries.push(entry);
      else kinds.set(kind, [entry]);
    }
    yield '';
  }
  yield `${JSON.stringify(head).slice(0, -1)},"paths":{`;
  let separator = '';
  for (const [path, here] of Map.groupBy(members, ({ operation }) => operation.path)) {
    yield `${separator}${JSON.stringify(path)}:${JSON.stringify(pathItem(here, copies, isDeprecated))}`;
    separator = ',';
  }
  kinds.set('securitySchemes', securitySchemes(members));
  if (webhooks.length > 0) yield '},"webhooks":{';
  separator = '';
  for (const { name, document, item } of webhooks) {
    yield `${separator}${JSON.stringify(name)}:${JSON.stringify((copies.get(document) as Copy)(item))}`;
    separator = ',';
  }
  yield '},"components":{';
  separator = '';
  for (const [kind, entries] of kinds) {
    yield `${separator}${JSON.stringify(kind)}:{`;
    for (const [index, entry] of entries.entries()) yield index === 0 ? entry : `,${entry}`;
    yield '}';
    separator = ',';
  }
  yield '}}';
}

/** Returns the published name of an operation of one document, which differs where several contracts share names. */
function operationIds(members: readonly ContractOperation[]): (declared: string) => string {
  const ids = new Map<unknown, string>();
  for (const { located, operation } of members) ids.set((located.value as JsonObject).operationId, operation.id);
  return (declared) => ids.get(declared) ?? declared;
}

/** Returns every component that these operations and webhooks refer to, directly or indirectly. */
function* usedBy(
  document: ContractDocument,
  members: readonly ContractOperation[],
  webhooks: readonly JsonObject[],
): Generator<string, Set<string>> {
  const { root } = document;
  const used = new Set<string>();
  const findSchema = (place: string) => {
    if (componentAt(root, place) !== undefined) used.add(place);
  };
  for (const entry of members) {
    forEachUsed(root, [entry.located.value, membersOfItem(entry)], findSchema);
    yield '';
  }
  for (const item of webhooks) {
    forEachUsed(root, item, findSchema);
    yield '';
  }
  // The iterator also visits components that are added during the loop.
  for (const place of used) {
    forEachUsed(root, componentAt(root, place), findSchema);
    yield '';
  }
  return used;
}

/** Returns the members of a path item other than its operations. Omits servers, because the gateway's own address replaces them. */
function membersOfItem({ document: { root }, operation: { path, publicPrefix } }: ContractOperation): JsonObject {
  const item = member(root, { value: root.paths, pointer: '/paths' }, path.slice(publicPrefix.length)).value;
  const { parameters, summary, description } = isRecord(item) ? item : {};
  return { parameters, summary, description };
}

/**
 * Builds the path item of one path. If operations of several documents share the path, each document's shared members move into its
 * operations.
 */
function pathItem(
  members: readonly ContractOperation[],
  copies: ReadonlyMap<ContractDocument, Copy>,
  isDeprecated: (operation: Operation) => boolean,
): JsonObject {
  const isShared = new Set(members.map(({ document }) => document)).size > 1;
  const first = members[0] as ContractOperation;
  const item: JsonObject = isShared ? {} : ((copies.get(first.document) as Copy)(membersOfItem(first)) as JsonObject);
  for (const entry of members) {
    const { document, located, operation } = entry;
    const copy = copies.get(document) as Copy;
    const { servers: _, ...declared } = located.value as JsonObject;
    const own = isShared ? { ...declared, parameters: allParameters(entry) } : declared;
    item[operation.method.toLowerCase()] = {
      ...(copy(own) as JsonObject),
      // This is the id of the operation in the gateway, because the id in its contract may not be unique in this document.
      ...(typeof declared.operationId === 'string' ? { operationId: operation.id } : {}),
      ...(isDeprecated(operation) ? { deprecated: true } : {}),
      ...mergedSecurity(operation, declared.description),
    };
  }
  return item;
}

/** Returns the operation's parameters, and the parameters of the path that the operation does not override by name and place. */
function allParameters(entry: ContractOperation): unknown[] {
  const { root } = entry.document;
  const resolveItem = (list: unknown[], index: number) => member(root, { value: list, pointer: '' }, index).value;
  const listOf = (owner: unknown) => (isRecord(owner) && Array.isArray(owner.parameters) ? owner.parameters : []);
  const nameOf = (value: unknown) => (isRecord(value) ? `${value.in} ${value.name}` : '');
  const own = listOf(entry.located.value);
  const names = new Set(own.map((_, index) => nameOf(resolveItem(own, index))));
  const shared = listOf(membersOfItem(entry));
  return [...shared.filter((_, index) => !names.has(nameOf(resolveItem(shared, index)))), ...own];
}
