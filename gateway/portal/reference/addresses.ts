// The addresses of the reference: one page per contract, one per operation, one place per group.

import { createSlugs } from '../html.ts';
import type { Reference, ReferredOperation } from './reference.ts';

export interface OperationAddress {
  readonly operation: ReferredOperation;
  readonly path: string;
  /** Its summary, or method and path. */
  readonly title: string;
  readonly group: OperationGroup;
  /** Its place in reading order. */
  readonly index: number;
}

/** The operations of one tag. */
export interface OperationGroup {
  readonly name: string;
  /** Markdown. */
  readonly description: string;
  /** Its id on the page of the contract. */
  readonly id: string;
  readonly operations: readonly OperationAddress[];
}

/** One contract with the addresses of its parts. */
export interface AddressedContract {
  readonly reference: Reference;
  readonly path: string;
  readonly groups: readonly OperationGroup[];
  /** In the order of the groups. */
  readonly operations: readonly OperationAddress[];
}

const OTHERS = 'Other operations';

/** An operation belongs to the group of its first tag. Groups are in the order of the tags that the contracts describe, then of use. */
export function addressed(reference: Reference): AddressedContract {
  const path = `/docs/reference/${reference.name}`;
  const described = new Map(reference.tags.map(({ name, description }) => [name, description]));
  const members = new Map<string, ReferredOperation[]>([...described.keys()].map((name) => [name, []]));
  for (const operation of reference.operations) {
    const name = operation.tags[0] ?? OTHERS;
    const list = members.get(name);
    if (list) list.push(operation);
    else members.set(name, [operation]);
  }
  const slug = createSlugs();
  const groupSlug = createSlugs();
  const groups: OperationGroup[] = [];
  const operations: OperationAddress[] = [];
  for (const [name, list] of members) {
    if (list.length === 0) continue;
    const own: OperationAddress[] = [];
    const description = described.get(name) ?? '';
    const group = { name, description, id: `group-${groupSlug(name, 'group')}`, operations: own };
    for (const operation of list) {
      const title = operation.summary || `${operation.method} ${operation.path}`;
      const at = {
        operation,
        path: `${path}/${slug(operation.id, 'operation')}`,
        title,
        group,
        index: operations.length,
      };
      own.push(at);
      operations.push(at);
    }
    groups.push(group);
  }
  return { reference, path, groups, operations };
}
