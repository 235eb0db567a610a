// The index that the search of the pages reads: one entry per operation, section of a guide, and error code.

import { type ErrorCode, REFUSALS } from '../catalogue/error-catalogue.ts';
import type { Guide } from './guides.ts';
import { shortened } from './html.ts';
import type { Page } from './layout.ts';
import { plain, withoutLimits } from './markdown.ts';
import type { AddressedContract } from './reference/addresses.ts';
import {
  type DocumentTools,
  isDocumentObject,
  membersOf,
  type ReferredOperation,
  textAt,
} from './reference/reference.ts';
import { createSchemaViews } from './reference/schema-view.ts';

/** kind, title, path, context (method and path of an operation, or the page), more words: those of an operation begin with its id */
type Entry = readonly [kind: string, title: string, path: string, context: string, words: string];

const WORDS_MAX = 400;
/** Guides answer questions by any of their words. */
const GUIDE_WORDS_MAX = 1500;
/** Sections of one guide. */
const SECTIONS_MAX = 40;

/** Returns JSON. It is proportional to the number of operations: about 300 bytes each. */
export function searchIndex(
  references: readonly AddressedContract[],
  guides: readonly Guide[],
  pages: readonly Page[],
  codes: readonly ErrorCode[],
  { tools, isForOperators }: SearchOptions,
): string {
  const own = pages.map(({ title, path, description }): Entry => ['Page', title, path, '', description]);
  const entries = [
    ...own,
    ...references.flatMap((one) => [...operationsIn(one, isForOperators), ...fieldsIn(one, tools)]),
    ...guides.flatMap(sectionsIn),
    ...codes.map(codeEntry),
  ];
  return JSON.stringify({ entries });
}

export interface SearchOptions {
  readonly tools: Pick<DocumentTools, 'resolve'>;
  /** Whether only operators of the API may use the operation. */
  readonly isForOperators: (operation: ReferredOperation) => boolean;
}

/** Fields of one contract. */
const FIELDS_MAX = 2000;

/** The fields of request bodies, each with the first operation of its resource that takes it. */
function fieldsIn({ operations }: AddressedContract, { resolve }: SearchOptions['tools']): Entry[] {
  const entries = new Map<string, Entry>();
  for (const { operation, title, path, group } of operations) {
    const { root, declared } = operation;
    const body = resolve(root, declared.requestBody);
    const [[, media] = []] = isDocumentObject(body) ? membersOf(body.content) : [];
    if (!isDocumentObject(media)) continue;
    for (const { name, schema } of createSchemaViews(root, { resolve })(media.schema, 'request').members) {
      const key = `${group.name} ${name}`;
      if (entries.size >= FIELDS_MAX) break;
      if (!entries.has(key))
        entries.set(key, ['Field', name, `${path}#body-${name}`, title, shortened(plain(schema.description), 120)]);
    }
  }
  return [...entries.values()];
}

function operationsIn(
  { operations, reference, path, groups }: AddressedContract,
  isForOperators: SearchOptions['isForOperators'],
): Entry[] {
  const pages: Entry[] = [
    ['Reference', reference.title, path, 'OpenAPI, Postman', shortened(plain(reference.description), WORDS_MAX)],
    ...groups.map(
      ({ name, path: page, description }): Entry => [
        'Resource',
        name,
        page,
        reference.title,
        shortened(plain(description), WORDS_MAX),
      ],
    ),
  ];
  const own = operations.map(({ operation, title, path: href, group }): Entry => {
    const parameters = operation.parameters.map((parameter) => textAt(parameter, 'name')).join(' ');
    const scopes = operation.security.flatMap((one) => one.scopes).join(' ');
    const statuses = membersOf(operation.declared.responses)
      .map(([status]) => status)
      .join(' ');
    const words = `${operation.id} ${wordsIn(operation.id)} ${group.name} ${parameters} ${scopes} ${statuses} ${plain(operation.description)}`;
    return [
      isForOperators(operation) ? 'Operators' : 'Operation',
      title,
      href,
      `${operation.method} ${operation.path}`,
      shortened(words, WORDS_MAX),
    ];
  });
  const hooks = reference.webhooks.map(({ name, item }): Entry => {
    const texts = membersOf(item).map(([, one]) => `${textAt(one, 'summary')} ${textAt(one, 'description')}`);
    return ['Webhook', name, `${path}#webhooks`, reference.title, shortened(plain(texts.join(' ')), WORDS_MAX)];
  });
  return [...pages, ...own, ...hooks];
}

/** `listCustomers` → `list Customers` */
function wordsIn(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_.-]+/g, ' ');
}

function sectionsIn({ name, title, summary, rendered, markdown }: Guide): Entry[] {
  const path = `/docs/guides/${name}`;
  const [first = '', ...parts] = withoutLimits(markdown).split(/^## .*$/m);
  const sections = rendered.sections
    .slice(0, SECTIONS_MAX)
    .map(
      ({ id, text }, index): Entry => [
        'Guide',
        text,
        `${path}#${id}`,
        title,
        shortened(plain(parts[index] ?? ''), GUIDE_WORDS_MAX),
      ],
    );
  const headings = rendered.sections.map(({ text }) => text).join(' ');
  const words = `${summary} ${headings} ${plain(first)} ${plain(parts.join(' '))}`;
  return [['Guide', title, path, '', shortened(words, GUIDE_WORDS_MAX)], ...sections];
}

function codeEntry(code: ErrorCode): Entry {
  const { status, type, meaning } = REFUSALS[code];
  return ['Error', code, `/docs/errors/${code}`, `${status} ${type}`, shortened(plain(meaning), WORDS_MAX)];
}
