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
  /** What it is for, with others; undefined if the contract does not say. */
  readonly purpose: string | undefined;
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

/** The group of operations without tags: some, or all. */
const OTHERS = 'Other operations';
const ALL = 'Operations';

/**
 * An operation belongs to the group of its first tag. Groups are in the order of the tags that the contracts describe, then of use; those of
 * one purpose stand together.
 */
export function addressed(reference: Reference): AddressedContract {
  const path = `/docs/reference/${reference.name}`;
  const described = new Map(reference.tags.map((tag) => [tag.name, tag]));
  const others = reference.operations.every(({ tags }) => tags.length === 0) ? ALL : OTHERS;
  const members = new Map<string, ReferredOperation[]>([...described.keys()].map((name) => [name, []]));
  for (const operation of reference.operations) {
    const name = operation.tags[0] ?? others;
    const list = members.get(name);
    if (list) list.push(operation);
    else members.set(name, [operation]);
  }
  const slug = createSlugs();
  const groupSlug = createSlugs();
  const groups: OperationGroup[] = [];
  const operations: OperationAddress[] = [];
  const together = Map.groupBy(members, ([name]) => described.get(name)?.group);
  for (const [name, list] of [...together.values()].flat()) {
    if (list.length === 0) continue;
    const own: OperationAddress[] = [];
    const { description = '', group: purpose } = described.get(name) ?? {};
    const group = { name, description, purpose, id: `group-${groupSlug(name, 'group')}`, operations: own };
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
