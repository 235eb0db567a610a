// The webhooks of contracts that are published as one document. Webhooks are requests that services send to their clients.

import type { ContractOperation } from '../operations/operations.ts';
import { isRecord, type JsonObject, type LocatedValue, member, memberNames } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import { prefixOf } from './names.ts';

export interface Webhook {
  /** Unique among the documents. */
  readonly name: string;
  readonly document: ContractDocument;
  /** The path item as its document declares it. */
  readonly declared: LocatedValue;
  /** The path item, with its references followed, and without the addresses and credentials of the service. */
  readonly item: JsonObject;
}

/** Returns the webhooks of the documents that these operations are from. */
export function webhooksOf(members: readonly ContractOperation[]): Webhook[] {
  const found = new Map<string, Webhook>();
  const ids = new Set(members.map(({ operation }) => operation.id));
  for (const document of new Set(members.map((entry) => entry.document))) {
    const { root } = document;
    const all: LocatedValue = member(root, { value: root, pointer: '' }, 'webhooks');
    for (const declared of memberNames(all)) {
      const path = member(root, all, declared);
      const { value } = path;
      // The linter has warned of a reference that leads nowhere.
      if (!isRecord(value) || typeof value.$ref === 'string') continue;
      const name = found.has(declared) ? `${prefixOf(document)}_${declared}` : declared;
      if (!found.has(name)) found.set(name, { name, document, declared: path, item: forClients(value, ids) });
    }
  }
  return [...found.values()];
}

/**
 * Returns the path item without its servers and credentials, which concern the service alone. Leaves out an operation id that is already in
 * `ids`, and adds the others there.
 */
function forClients({ servers: _, ...item }: JsonObject, ids: Set<string>): JsonObject {
  const members = Object.entries(item).map(([name, value]) => {
    if (!isRecord(value)) return [name, value];
    const { security, servers, operationId, ...operation } = value;
    if (typeof operationId !== 'string' || ids.has(operationId)) return [name, operation];
    ids.add(operationId);
    return [name, { operationId, ...operation }];
  });
  return Object.fromEntries(members) as JsonObject;
}
