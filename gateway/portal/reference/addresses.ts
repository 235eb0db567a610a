// Makes the addresses of the reference, which has one page per contract, per group and per operation.

import type { PublishedWebhook } from '../../shared/contracts/published-contract.ts';
import { createSlugs } from '../html.ts';
import { membersOf, type Reference, type ReferredOperation, textAt } from './reference.ts';

export interface OperationAddress {
  readonly operation: ReferredOperation;
  readonly path: string;
  /** Its summary, or method and path. */
  readonly title: string;
  readonly group: OperationGroup;
  /** Its place in reading order. */
  readonly index: number;
  /** Whether only operators of the API may use it. */
  readonly isForOperators: boolean;
}

/** The operations of one tag. */
export interface OperationGroup {
  readonly name: string;
  /** Markdown. */
  readonly description: string;
  /** The purpose of the group, which other groups may share; undefined if the contract names no purpose. */
  readonly purpose: string | undefined;
  /** Its page. */
  readonly path: string;
  /** Its id on the page of the contract. */
  readonly id: string;
  readonly operations: readonly OperationAddress[];
  /** Whether only operators of the API may use any of it. */
  readonly isForOperators: boolean;
}

/** A request that services send to clients, with the address of its page. */
export interface WebhookAddress {
  readonly webhook: PublishedWebhook;
  readonly path: string;
  /** Its name, by which receivers tell events apart. */
  readonly title: string;
  /** Markdown. */
  readonly summary: string;
}

/** One contract with the addresses of its parts. */
export interface AddressedContract {
  readonly reference: Reference;
  readonly path: string;
  readonly groups: readonly OperationGroup[];
  /** The operations, in the order of the groups. */
  readonly operations: readonly OperationAddress[];
  readonly webhooks: readonly WebhookAddress[];
  /** The number of operations for clients. The others are for operators of the API. */
  readonly clientOperations: number;
}

type IsForOperators = (operation: ReferredOperation) => boolean;

/** The name of the group of operations without tags. */
const OTHERS = 'Other operations';
const ALL = 'Operations';
/** Some documents have hundreds of webhooks. */
const WEBHOOKS_MAX = 400;

/**
 * Gives operations and groups their addresses. An operation belongs to the group of its first tag. Groups are in the order of the described
 * tags, then of their use. Groups of one purpose are together. Operations without a tag come last.
 */
export function addressed(reference: Reference, isForOperators: IsForOperators): AddressedContract {
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
  const untagged = members.get(others);
  if (untagged !== undefined) {
    members.delete(others);
    members.set(others, untagged);
  }
  // Operations get their addresses first, because addresses of groups were added later, and must not change them.
  const slug = createSlugs();
  const together = Map.groupBy(members, ([name]) => described.get(name)?.group);
  const ordered = [...together.values()].flat().filter(([, list]) => list.length > 0);
  const paths = new Map(
    ordered.flatMap(([, list]) => list.map((one) => [one, `${path}/${slug(one.id, 'operation')}`] as const)),
  );
  const groupSlug = createSlugs();
  const groups: OperationGroup[] = [];
  const operations: OperationAddress[] = [];
  for (const [name, list] of ordered) {
    const own: OperationAddress[] = [];
    const { description = '', group: purpose } = described.get(name) ?? {};
    const group = {
      ...{ name, description, purpose, operations: own },
      path: `${path}/${slug(name, 'group')}`,
      id: `group-${groupSlug(name, 'group')}`,
      isForOperators: list.every(isForOperators),
    };
    for (const operation of list) {
      const title = operation.summary || `${operation.method} ${operation.path}`;
      const at = {
        operation,
        path: paths.get(operation) ?? path,
        title,
        group,
        index: operations.length,
        isForOperators: isForOperators(operation),
      };
      own.push(at);
      operations.push(at);
    }
    groups.push(group);
  }
  const webhooks = reference.webhooks.slice(0, WEBHOOKS_MAX).map((webhook) => {
    const summaries = membersOf(webhook.item).map(([, one]) => textAt(one, 'summary'));
    const summary = summaries.find((text) => text !== '') ?? '';
    return { webhook, title: webhook.name, summary, path: `${path}/${slug(`webhook ${webhook.name}`, 'webhook')}` };
  });
  const clientOperations = operations.filter((one) => !one.isForOperators).length;
  return { reference, path, groups, operations, webhooks, clientOperations };
}
