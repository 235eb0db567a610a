// Requests that services send to their clients: callbacks of an operation, a webhook of a contract.

import type { PublishedWebhook } from '../../shared/contracts/published-contract.ts';
import { isRecord } from '../../shared/is-record.ts';
import { type BodyView, createBodyViews } from './body-view.ts';
import { type DocumentObject, type DocumentTools, listOf, membersOf, textAt } from './reference.ts';

export interface SentRequestView {
  readonly name: string;
  readonly method: string;
  /** The address of the request, as an expression over the client's own request; empty if the client registers it in another way. */
  readonly address: string;
  /** Markdown. */
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly headers: readonly SentHeader[];
  readonly body: BodyView | undefined;
  /** What the client may answer. */
  readonly answers: readonly { readonly status: string; readonly description: string }[];
}

interface SentHeader {
  readonly name: string;
  /** Markdown. */
  readonly description: string;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace', 'query'];
/** Some documents have hundreds of webhooks with large bodies. */
const SHOWN_MAX = 200;
const BODIES_MAX = 30;

export function callbacksOf(root: DocumentObject, declared: DocumentObject, tools: DocumentTools): SentRequestView[] {
  const items = membersOf(declared.callbacks).flatMap(([name, found]) =>
    membersOf(tools.resolve(root, found)).map(([address, item]) => ({ name, address, item, root })),
  );
  return viewsOf(items, tools);
}

/** Returns the requests of a webhook, one for each method. */
export function viewsOfWebhook(webhook: PublishedWebhook, tools: DocumentTools): SentRequestView[] {
  return viewsOf([{ ...webhook, address: '' }], tools);
}

interface SentItem extends Pick<SentRequestView, 'name' | 'address'> {
  readonly item: unknown;
  readonly root: DocumentObject;
}

function viewsOf(items: readonly SentItem[], tools: DocumentTools): SentRequestView[] {
  const all = items.slice(0, SHOWN_MAX).flatMap(({ name, address, item, root }) => {
    const found = tools.resolve(root, item);
    return membersOf(found)
      .filter(([method, operation]) => METHODS.includes(method) && isRecord(operation))
      .map(([method, operation]) => ({
        name,
        address,
        method,
        root,
        item: found,
        operation: operation as DocumentObject,
      }));
  });
  return all.map(({ name, address, method, root, item, operation }, index) => ({
    name,
    method: method.toUpperCase(),
    address,
    summary: textAt(operation, 'summary'),
    description: textAt(operation, 'description'),
    headers: [item, operation].flatMap((owner) => headersOf(root, owner, tools)),
    answers: membersOf(operation.responses).map(([status, found]) => {
      return { status, description: textAt(tools.resolve(root, found), 'description') };
    }),
    body: index < BODIES_MAX ? createBodyViews(root, tools)(operation.requestBody, 'answer') : undefined,
  }));
}

function headersOf(root: DocumentObject, owner: unknown, { resolve }: DocumentTools): SentHeader[] {
  const parameters = isRecord(owner) ? listOf(owner.parameters) : [];
  return parameters
    .map((found) => resolve(root, found))
    .filter((parameter) => textAt(parameter, 'in') === 'header')
    .map((parameter) => ({ name: textAt(parameter, 'name'), description: textAt(parameter, 'description') }));
}
