// Makes the result of a search for webhooks: the webhooks of the contracts, or a text about alternatives if there are none.

import { shorten } from '../html.ts';
import { plain } from '../markdown.ts';
import type { AddressedContract } from '../reference/addresses.ts';
import { membersOf, textAt } from '../reference/reference.ts';
import type { SearchEntry } from './entry.ts';
import { sendsEvents } from './topics.ts';

const WORDS_MAX = 400;
const TOPIC = 'webhook webhooks callback callbacks hook hooks | api event events notification notifications';

export function webhookEntries(references: readonly AddressedContract[]): SearchEntry[] {
  const entries = references.flatMap(webhooksOf);
  return entries.length > 0 || references.some(hasCallbacks) ? entries : [noWebhooks(references)];
}

function webhooksOf({ reference, webhooks }: AddressedContract): SearchEntry[] {
  return webhooks.map(({ title, summary, path, webhook: { item } }) => {
    const texts = membersOf(item).map(([, one]) => textAt(one, 'description'));
    const words = `Webhook ${shorten(plain(texts.join(' ')), WORDS_MAX)}`;
    return ['Webhook', title, path, plain(summary) || reference.title, words, TOPIC];
  });
}

function hasCallbacks({ operations }: AddressedContract): boolean {
  return operations.some(({ operation }) => membersOf(operation.declared.callbacks).length > 0);
}

/** Returns the entry for APIs without webhooks. It names streams, which also report events. */
function noWebhooks(references: readonly AddressedContract[]): SearchEntry {
  const stream = references
    .flatMap(({ operations }) => operations)
    .find(({ operation, isForOperators }) => !isForOperators && sendsEvents(operation));
  const context = stream === undefined ? 'See what it has' : `Events come as a stream: ${stream.title}`;
  return ['Page', 'This API has no webhooks', stream?.path ?? '/docs/reference', context, '', TOPIC];
}
