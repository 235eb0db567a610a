// The page of one contract: how to reach it, what to download, and every operation by its group. Also the links beside all its pages.

import { createSlugs, escapeHtml } from '../html.ts';
import type { Page } from '../layout.ts';
import { plain, renderDescription } from '../markdown.ts';
import type { AddressedContract, OperationAddress, OperationGroup } from './addresses.ts';
import { breakable } from './path-text.ts';
import type { DocumentTools, ReferredOperation } from './reference.ts';
import { createSchemaHtml } from './schema-html.ts';
import { type SentRequestView, viewsOfWebhooks } from './sent-requests.ts';
import { sentRequestsHtml, sentRequestsLines } from './sent-requests-text.ts';

/** With more operations than this, the links beside a page show those of its own group only. */
const LINKS_MAX = 400;

export function overviewPage(
  all: AddressedContract,
  references: readonly AddressedContract[],
  { tools, updatedMs }: { readonly tools: DocumentTools; readonly updatedMs: number | undefined },
): Page {
  const webhooks = viewsOfWebhooks(all.reference.webhooks, tools);
  const { reference, path, groups, operations } = all;
  const { name, title, description, server } = reference;
  const main = `<article class="overview">
<h1>${escapeHtml(title)}</h1>
<div class="lead">${renderDescription(description)}</div>
<dl class="facts"><div><dt>Base URL</dt><dd><code>${escapeHtml(server)}</code></dd></div>
<div><dt>Operations</dt><dd>${operations.length}</dd></div></dl>
<ul class="downloads">
<li><a href="/openapi/${name}.json">OpenAPI as JSON</a></li>
<li><a href="/openapi/${name}.yaml">OpenAPI as YAML</a></li>
<li><a href="${path}.postman.json" download="${name}.postman.json">Postman collection</a></li>
</ul>
${groups.map(groupHtml).join('\n')}
${sentRequestsHtml({ heading: 'Webhooks', id: 'webhooks' }, webhooks, createSchemaHtml(createSlugs()))}
</article>`;
  return {
    path,
    title,
    description: plain(description).slice(0, 160) || `Reference of ${title}: every operation.`,
    section: '/docs/reference',
    main,
    markdown: overviewMarkdown(all, webhooks),
    contents: contentsOf(references, all, undefined),
    styles: ['reference.css'],
    updatedMs,
  };
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

function overviewMarkdown({ reference, groups }: AddressedContract, webhooks: readonly SentRequestView[]): string {
  const { title, description, server, name } = reference;
  const sections = groups.map(({ name: group, path: page, description: text, operations }) => {
    const lines = operations.map(
      ({ title: own, path, operation }) => `- [${own}](${path}.md): \`${operation.method} ${operation.path}\``,
    );
    return [`## ${group}`, text, `- [About ${group}](${page}.md)\n${lines.join('\n')}`].filter(Boolean).join('\n\n');
  });
  const files = `OpenAPI: [JSON](/openapi/${name}.json), [YAML](/openapi/${name}.yaml)`;
  return `${[`# ${title}`, description, `Base URL: \`${server}\``, files, ...sections, ...sentRequestsLines('Webhooks', webhooks)].filter(Boolean).join('\n\n')}\n`;
}

/** An operation, or a group without one. */
interface Here {
  readonly group: OperationGroup;
  readonly operation?: ReferredOperation;
}

/** Returns the links beside a page, as HTML: every contract, and the operations of the current one by group. */
export function contentsOf(
  references: readonly AddressedContract[],
  current: AddressedContract | undefined,
  at: Here | undefined,
): string {
  return references
    .map((one) => {
      const here = one === current;
      const mark = here && at === undefined ? ' aria-current="page"' : '';
      const head = `<p class="contents-title"><a href="${one.path}"${mark}>${escapeHtml(one.reference.title)}</a></p>`;
      return here ? head + groupsOf(one, at) : head;
    })
    .join('\n');
}

function groupsOf({ groups, operations }: AddressedContract, at: Here | undefined): string {
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

/** Links to every contract, as cards. */
function referenceCards(references: readonly AddressedContract[]): string {
  const cards = references.map(({ reference: { title }, path, groups, operations }) => {
    const count = `${operations.length} ${operations.length === 1 ? 'operation' : 'operations'}`;
    const names = groups.map(({ name }) => name).join(', ');
    return `<li><a class="card" href="${path}"><strong>${escapeHtml(title)}</strong> <span class="group-name">${escapeHtml(names)}</span> <span>${count}</span></a></li>`;
  });
  return `<ul class="cards">${cards.join('')}</ul>`;
}

export function referencesPage(references: readonly AddressedContract[]): Page {
  const list = references.map(
    ({ reference: { title }, path, operations }) => `- [${title}](${path}.md): ${operations.length} operations`,
  );
  return {
    path: '/docs/reference',
    title: 'Reference',
    description: 'Every operation of the API.',
    section: '/docs/reference',
    main: `<h1>Reference</h1>\n<p class="lead">Every operation, with its fields, samples in four languages, and its errors.</p>\n${referenceCards(references)}`,
    markdown: `# Reference\n\n${list.join('\n')}\n`,
    contents: contentsOf(references, undefined, undefined),
  };
}
