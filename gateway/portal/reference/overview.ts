// Makes the page of one contract, with its address, its downloads, and all operations by group. Also makes the links beside all its pages.

import { escapeHtml } from '../html.ts';
import type { Page } from '../layout.ts';
import { plain, renderDescription } from '../markdown.ts';
import type { AddressedContract, OperationAddress, OperationGroup, WebhookAddress } from './addresses.ts';
import { breakable } from './path-text.ts';
import type { ReferredOperation } from './reference.ts';

/** If there are more operations than this, the links beside a page show only the operations of its own group. */
const LINKS_MAX = 400;

export function overviewPage(
  all: AddressedContract,
  references: readonly AddressedContract[],
  updatedMs: number | undefined,
): Page {
  const { reference, path, groups } = all;
  const [forClients, forOperators] = partedByReader(groups);
  const { name, title, description, server } = reference;
  const main = `<article class="overview">
<h1>${escapeHtml(title)}</h1>
<div class="lead">${renderDescription(description)}</div>
<dl class="facts"><div><dt>Base URL</dt><dd><code>${escapeHtml(server)}</code></dd></div>
<div><dt>Operations</dt><dd>${countText(all)}</dd></div></dl>
<ul class="downloads">
<li><a href="/openapi/${name}.json">OpenAPI as JSON</a></li>
<li><a href="/openapi/${name}.yaml">OpenAPI as YAML</a></li>
<li><a href="${path}.postman.json" download="${name}.postman.json">Postman collection</a></li>
</ul>
${forClients.map(groupHtml).join('\n')}
${forOperatorsHtml(forOperators.map(groupHtml))}
${webhooksHtml(all.webhooks)}
</article>`;
  return {
    path,
    title,
    description: plain(description).slice(0, 160) || `Reference of ${title}: every operation.`,
    section: '/docs/reference',
    main,
    markdown: overviewMarkdown(all),
    contents: contentsOf(references, all, undefined),
    styles: ['reference.css'],
    updatedMs,
  };
}

/**
 * Returns the groups with operations for clients, and the groups only for operators. If there are no operations for clients, all groups are
 * in the first list, because only operators read such a contract.
 */
function partedByReader(groups: readonly OperationGroup[]): [OperationGroup[], OperationGroup[]] {
  const forClients = groups.filter((group) => !group.isForOperators);
  return forClients.length === 0 ? [[...groups], []] : [forClients, groups.filter((group) => group.isForOperators)];
}

/** Returns a text such as `12`, `12, and 25 for operators` or `5, for operators`. */
function countText({ operations, clientOperations }: AddressedContract): string {
  const others = operations.length - clientOperations;
  if (others === 0) return String(clientOperations);
  return clientOperations === 0 ? `${others}, for operators` : `${clientOperations}, and ${others} for operators`;
}

function forOperatorsHtml(groups: readonly string[]): string {
  if (groups.length === 0) return '';
  return `<details class="for-operators" id="operators"><summary>For operators of the API</summary>\n${groups.join('\n')}</details>`;
}

function groupHtml({ name, path, description, id, operations }: OperationGroup): string {
  return `<section class="group"><h2 id="${id}"><a class="group-name" href="${path}">${escapeHtml(name)}</a></h2>
${renderDescription(description)}${operationList(operations)}</section>`;
}

export function operationList(operations: readonly OperationAddress[]): string {
  const rows = operations.map(({ operation: { method, path, isDeprecated }, title, path: href }) => {
    const mark = isDeprecated ? ' <span class="deprecated">deprecated</span>' : '';
    return `<li><a href="${href}"><span class="op-title">${escapeHtml(title)}${mark}</span><span class="op-path"><span class="method ${method.toLowerCase()}">${escapeHtml(method)}</span> <code>${breakable(path)}</code></span></a></li>`;
  });
  return `<ul class="ops">${rows.join('\n')}</ul>`;
}

/** Returns the list of the requests that the API sends. */
function webhooksHtml(webhooks: readonly WebhookAddress[]): string {
  if (webhooks.length === 0) return '';
  const rows = webhooks.map(
    ({ title, summary, path }) =>
      `<li><a href="${path}"><span class="op-title">${escapeHtml(plain(summary) || title)}</span><span class="op-path"><code>${escapeHtml(title)}</code></span></a></li>`,
  );
  return `<section class="group"><h2 id="webhooks">Webhooks</h2>
<p>Requests that the API sends to an address of yours.</p><ul class="ops">${rows.join('\n')}</ul></section>`;
}

function overviewMarkdown({ reference, groups, webhooks }: AddressedContract): string {
  const { title, description, server, name } = reference;
  const sections = groups.map(({ name: group, path: page, description: text, operations }) => {
    const lines = operations.map(
      ({ title: own, path, operation }) => `- [${own}](${path}.md): \`${operation.method} ${operation.path}\``,
    );
    return [`## ${group}`, text, `- [About ${group}](${page}.md)\n${lines.join('\n')}`].filter(Boolean).join('\n\n');
  });
  const sent = webhooks.map(
    ({ title: own, summary, path }) => `- [${own}](${path}.md)${summary && `: ${plain(summary)}`}`,
  );
  const files = `OpenAPI: [JSON](/openapi/${name}.json), [YAML](/openapi/${name}.yaml)`;
  return `${[`# ${title}`, description, `Base URL: \`${server}\``, files, ...sections, ...(sent.length === 0 ? [] : ['## Webhooks', sent.join('\n')])].filter(Boolean).join('\n\n')}\n`;
}

/** An operation, a group without one, or a webhook. */
interface Here {
  readonly group?: OperationGroup;
  readonly operation?: ReferredOperation;
  readonly webhook?: WebhookAddress;
}

/** Returns the links beside a page, as HTML, to every contract, and to the operations of the current contract by group. */
export function contentsOf(
  references: readonly AddressedContract[],
  current: AddressedContract | undefined,
  at: Here | undefined,
): string {
  const linksOf = (one: AddressedContract) => {
    const here = one === current;
    const mark = here && at === undefined ? ' aria-current="page"' : '';
    const head = `<p class="contents-title"><a href="${one.path}"${mark}>${escapeHtml(one.reference.title)}</a></p>`;
    return here ? head + groupsOf(one, at) : head;
  };
  const forOperators = references.filter(isForOperatorsAlone);
  const rest = forOperatorsLinks(forOperators.map(linksOf), current !== undefined && forOperators.includes(current));
  return [...references.filter((one) => !isForOperatorsAlone(one)).map(linksOf), rest].join('\n');
}

function isForOperatorsAlone({ clientOperations }: AddressedContract): boolean {
  return clientOperations === 0;
}

/** Returns the links for operators, folded unless the page belongs to them. */
function forOperatorsLinks(links: readonly string[], isOpen: boolean): string {
  if (links.length === 0) return '';
  return `<details class="for-operators"${isOpen ? ' open' : ''}><summary>For operators</summary>${links.join('\n')}</details>`;
}

function groupsOf(all: AddressedContract, at: Here | undefined): string {
  const [forClients, forOperators] = partedByReader(all.groups);
  const isHere = at?.group !== undefined && forOperators.includes(at.group);
  const hidden = forOperators.length === 0 ? [] : [groupLinks(forOperators, all, at)];
  return groupLinks(forClients, all, at) + webhookLinks(all, at) + forOperatorsLinks(hidden, isHere);
}

function webhookLinks({ webhooks, operations, path: home }: AddressedContract, at: Here | undefined): string {
  if (webhooks.length === 0) return '';
  if (operations.length + webhooks.length > LINKS_MAX && at?.webhook === undefined)
    return `<p class="group-link"><a href="${home}#webhooks"><span class="group-name">Webhooks</span></a></p>`;
  const links = webhooks.map((one) => {
    const mark = one === at?.webhook ? ' aria-current="page"' : '';
    return `<li><a href="${one.path}"${mark}><span>${escapeHtml(one.title)}</span></a></li>`;
  });
  return `<details${at?.webhook === undefined ? '' : ' open'}><summary><span class="group-name">Webhooks</span></summary><ul>${links.join('')}</ul></details>`;
}

function groupLinks(
  groups: readonly OperationGroup[],
  { operations }: AddressedContract,
  at: Here | undefined,
): string {
  const isLong = operations.length > LINKS_MAX;
  return groups
    .map((group, index) => {
      const { name, path, purpose, operations: own } = group;
      const isFirst = purpose !== undefined && purpose !== groups[index - 1]?.purpose;
      const heading = isFirst ? `<p class="contents-purpose">${escapeHtml(purpose)}</p>` : '';
      if (isLong && group !== at?.group)
        return `${heading}<p class="group-link"><a href="${path}"><span class="group-name">${escapeHtml(name)}</span></a></p>`;
      const links = own.map(({ title, path: href, operation }) => {
        const mark = operation === at?.operation ? ' aria-current="page"' : '';
        return `<li><a href="${href}"${mark}><span>${escapeHtml(title)}</span><span class="method ${operation.method.toLowerCase()}">${shortMethod(operation.method)}</span></a></li>`;
      });
      const about = `<li><a href="${path}"${group === at?.group && at.operation === undefined ? ' aria-current="page"' : ''}>Overview</a></li>`;
      const open = group === at?.group || (at === undefined && groups.length === 1) ? ' open' : '';
      return `${heading}<details${open}><summary><span class="group-name">${escapeHtml(name)}</span></summary><ul>${about}${links.join('')}</ul></details>`;
    })
    .join('\n');
}

function shortMethod(method: string): string {
  return method === 'DELETE' ? 'DEL' : escapeHtml(method.slice(0, 7));
}

interface Card {
  readonly title: string;
  readonly path: string;
  readonly groups: readonly OperationGroup[];
  readonly count: number;
}

/** Returns the cards of contracts for one kind of readers. */
function cardsFor(references: readonly AddressedContract[], readers: 'clients' | 'operators'): Card[] {
  return references.flatMap((one) => {
    const { reference, path, groups, operations, clientOperations } = one;
    const isOfOperators = readers === 'operators';
    const count = isOfOperators ? operations.length - clientOperations : clientOperations;
    const place = isOfOperators && clientOperations > 0 ? `${path}#operators` : path;
    const own = groups.filter((group) => group.isForOperators === isOfOperators);
    return count === 0 ? [] : [{ title: reference.title, path: place, groups: own, count }];
  });
}

function cardsHtml(cards: readonly Card[]): string {
  const items = cards.map(({ title, path, groups, count }) => {
    const names = groups.map(({ name }) => name).join(', ');
    return `<li><a class="card" href="${path}"><strong>${escapeHtml(title)}</strong> <span class="group-name">${escapeHtml(names)}</span> <span>${operationsText(count)}</span></a></li>`;
  });
  return `<ul class="cards">${items.join('')}</ul>`;
}

export function operationsText(count: number): string {
  return `${count} ${count === 1 ? 'operation' : 'operations'}`;
}

/** Returns the cards for operators, folded; empty if there are none. */
export function operatorCards(references: readonly AddressedContract[]): string {
  const cards = cardsFor(references, 'operators');
  if (cards.length === 0) return '';
  const count = cards.reduce((sum, one) => sum + one.count, 0);
  return `<details class="for-operators"><summary>For operators of the API <span class="quiet-text">${operationsText(count)}</span></summary>
<p class="quiet-text">Keys of clients cannot hold the scopes of these operations.</p>
${cardsHtml(cards)}</details>`;
}

export function referencesPage(references: readonly AddressedContract[]): Page {
  const list = references.map((one) => `- [${one.reference.title}](${one.path}.md): operations: ${countText(one)}`);
  return {
    path: '/docs/reference',
    title: 'Reference',
    description: 'Every operation of the API.',
    section: '/docs/reference',
    main: `<h1>Reference</h1>\n<p class="lead">Every operation, with its fields, samples in four languages, and its errors.</p>\n${cardsHtml(cardsFor(references, 'clients'))}\n${operatorCards(references)}`,
    markdown: `# Reference\n\n${list.join('\n')}\n`,
    contents: contentsOf(references, undefined, undefined),
    styles: ['reference.css'],
  };
}
