// Requests that services send to their clients: callbacks of an operation, webhooks of a contract.

import type { PublishedWebhook } from '../../shared/contracts/published-contract.ts';
import { type BodyView, createBodyViews } from './body-view.ts';
import { type DocumentObject, type DocumentTools, isDocumentObject, membersOf, textAt } from './reference.ts';

export interface SentRequestView {
  readonly name: string;
  readonly method: string;
  /** The address of the request, as an expression over the client's own request; empty if the client registers it in another way. */
  readonly address: string;
  /** Markdown. */
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly body: BodyView | undefined;
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

export function viewsOfWebhooks(webhooks: readonly PublishedWebhook[], tools: DocumentTools): SentRequestView[] {
  return viewsOf(
    webhooks.map((webhook) => ({ ...webhook, address: '' })),
    tools,
  );
}

interface SentItem extends Pick<SentRequestView, 'name' | 'address'> {
  readonly item: unknown;
  readonly root: DocumentObject;
}

function viewsOf(items: readonly SentItem[], tools: DocumentTools): SentRequestView[] {
  const all = items.slice(0, SHOWN_MAX).flatMap(({ name, address, item, root }) => {
    const found = tools.resolve(root, item);
    return membersOf(found)
      .filter(([method, operation]) => METHODS.includes(method) && isDocumentObject(operation))
      .map(([method, operation]) => ({ name, address, method, root, operation: operation as DocumentObject }));
  });
  return all.map(({ name, address, method, root, operation }, index) => ({
    name,
    method: method.toUpperCase(),
    address,
    summary: textAt(operation, 'summary'),
    description: textAt(operation, 'description'),
    body: index < BODIES_MAX ? createBodyViews(root, tools)(operation.requestBody, 'answer') : undefined,
  }));
}
