// Makes the index that the search of the pages reads, with pages, operations, their fields, sections of guides, and error codes.

import { type ErrorCode, REFUSALS } from '../../catalogue/errors.ts';
import { VIOLATION_CODES } from '../../shared/contracts/violation-codes.ts';
import { isRecord } from '../../shared/is-record.ts';
import type { Guide } from '../guides.ts';
import { shorten } from '../html.ts';
import type { HelpLinks, Page } from '../layout.ts';
import { plain, withoutLimits } from '../markdown.ts';
import type { AddressedContract, OperationAddress, OperationGroup } from '../reference/addresses.ts';
import { membersOf, textAt } from '../reference/reference.ts';
import { OPERATORS, type SearchEntry } from './entry.ts';
import { type FieldTools, fieldsIn } from './fields.ts';
import { sendsEvents, TOPIC_OF_CONTRACT, topicOfOperation, topicOfPage } from './topics.ts';

/** The topic of webhooks, as in `topics.ts`. */
const WEBHOOKS = 'webhook webhooks callback callbacks hook hooks | api event events notification notifications';
const WORDS_MAX = 400;
/** Guides answer questions by any of their words. */
const GUIDE_WORDS_MAX = 1500;
/** Sections of one guide. */
const SECTIONS_MAX = 40;

export interface SearchedPages {
  readonly references: readonly AddressedContract[];
  readonly guides: readonly Guide[];
  /** Pages beside guides and reference. */
  readonly pages: readonly Page[];
  readonly codes: readonly ErrorCode[];
  readonly help: HelpLinks;
}

/** Returns JSON. Its size is proportional to the number of operations, with about 300 bytes each. */
export function searchIndex({ references, guides, pages, codes, help }: SearchedPages, tools: FieldTools): string {
  const entries = [
    ...pages.map(pageEntry),
    pageEntry({
      path: '/docs/errors',
      title: 'Error codes',
      description: 'Every error code, and what to do about it.',
    }),
    ...helpEntries(help),
    ...references.flatMap((one) => [...contractEntries(one), ...fieldsIn(one, tools)]),
    ...webhookEntries(references),
    ...guides.flatMap(sectionsIn),
    ...codes.map(codeEntry),
    ...Object.entries(VIOLATION_CODES).map(violationEntry),
  ];
  return JSON.stringify({ entries: entries.map(withTopic) });
}

function withTopic([kind, title, path, context, words, topic = topicOfPage(path)]: SearchEntry): SearchEntry {
  return topic === undefined || topic === ''
    ? [kind, title, path, context, words]
    : [kind, title, path, context, words, topic];
}

function helpEntries({ contact, status }: HelpLinks): SearchEntry[] {
  return [
    ...(status === undefined
      ? []
      : [pageEntry({ path: status, title: 'Status', description: 'Outages, incidents, uptime.' })]),
    ...(contact === undefined
      ? []
      : [pageEntry({ path: contact, title: 'Contact', description: 'Ask a person for help.' })]),
  ];
}

function pageEntry({ path, title, description }: Pick<Page, 'path' | 'title' | 'description'>): SearchEntry {
  return ['Page', title, path, '', description];
}

function contractEntries(all: AddressedContract): SearchEntry[] {
  const { reference, path, operations, groups, clientOperations } = all;
  const { title, description } = reference;
  const kind = clientOperations === 0 ? OPERATORS : 'Reference';
  const words = shorten(plain(description), WORDS_MAX);
  return [
    [kind, title, path, 'OpenAPI, Postman', words, TOPIC_OF_CONTRACT],
    ...groups.map((group) => groupEntry(group, title)),
    ...operations.map(operationEntry),
  ];
}

function groupEntry({ name, path, description, isForOperators }: OperationGroup, title: string): SearchEntry {
  const shown = name.charAt(0).toUpperCase() + name.slice(1);
  return [isForOperators ? OPERATORS : 'Resource', shown, path, title, shorten(plain(description), WORDS_MAX)];
}

function operationEntry({ operation, title, path, group, isForOperators }: OperationAddress): SearchEntry {
  const parameters = operation.parameters.map((parameter) => textAt(parameter, 'name')).join(' ');
  const scopes = operation.security.flatMap((one) => one.scopes).join(' ');
  const statuses = membersOf(operation.declared.responses).map(([status]) => status);
  const described = `${plain(operation.description)} ${examplesIn(operation).join(' ')}`;
  const words = `${operation.id} ${wordsIn(operation.id)} ${group.name} ${parameters} ${scopes} ${statuses.join(' ')} ${described}`;
  const kind = isForOperators ? OPERATORS : 'Operation';
  const context = `${operation.method} ${operation.path}`;
  return [kind, title, path, context, shorten(words, WORDS_MAX), topicOfOperation(operation, `${title} ${group.name}`)];
}

/** Returns names and summaries of the bodies that may be sent, such as "sms" and "A text message". */
function examplesIn({ declared }: OperationAddress['operation']): string[] {
  const body = declared.requestBody;
  return membersOf(isRecord(body) ? body.content : undefined).flatMap(([, media]) =>
    membersOf(isRecord(media) ? media.examples : undefined).map(
      ([name, example]) => `${wordsIn(name)} ${textAt(example, 'summary')}`,
    ),
  );
}

/** Splits a name into words: `list Customers` for `listCustomers`. */
function wordsIn(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_.-]+/g, ' ');
}

function sectionsIn({ name, title, summary, rendered, markdown }: Guide): SearchEntry[] {
  const path = `/docs/guides/${name}`;
  const [first = '', ...parts] = withoutLimits(markdown).split(/^## .*$/m);
  const sections = rendered.sections.slice(0, SECTIONS_MAX).map(({ id, text }, index): SearchEntry => {
    const words = shorten(plain(parts[index] ?? ''), GUIDE_WORDS_MAX);
    return ['Guide', text, `${path}#${id}`, title, words];
  });
  const headings = rendered.sections.map(({ text }) => text).join(' ');
  const words = `${summary} ${headings} ${plain(first)} ${plain(parts.join(' '))}`;
  return [['Guide', title, path, '', shorten(words, GUIDE_WORDS_MAX)], ...sections];
}

function violationEntry([code, meaning]: [string, string]): SearchEntry {
  return ['Error', code, `/docs/errors/validation_failed#${code}`, 'in errors of validation_failed', plain(meaning)];
}

function codeEntry(code: ErrorCode): SearchEntry {
  const { status, type, meaning } = REFUSALS[code];
  return ['Error', code, `/docs/errors/${code}`, `${status} ${type}`, shorten(plain(meaning), WORDS_MAX)];
}

/** Returns the webhooks of the contracts, or a text about alternatives if there are none. */
function webhookEntries(references: readonly AddressedContract[]): SearchEntry[] {
  const entries = references.flatMap(webhooksOf);
  return entries.length > 0 || references.some(hasCallbacks) ? entries : [noWebhooks(references)];
}

function webhooksOf({ reference, webhooks }: AddressedContract): SearchEntry[] {
  return webhooks.map(({ title, summary, path, webhook: { item } }) => {
    const texts = membersOf(item).map(([, one]) => textAt(one, 'description'));
    const words = `Webhook ${wordsIn(title)} ${shorten(plain(texts.join(' ')), WORDS_MAX)}`;
    return ['Webhook', title, path, plain(summary) || reference.title, words, WEBHOOKS];
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
  return ['Page', 'This API has no webhooks', stream?.path ?? '/docs/reference', context, '', WEBHOOKS];
}
