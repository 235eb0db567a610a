// Pages that show a published contract: with Swagger UI in the browser, or as a plain table without JavaScript.

import { escapeHtml } from './html.ts';
import type { Page } from './layout.ts';
import { renderMarkdown } from './markdown.ts';

/** One published contract. */
export interface Reference {
  readonly name: string;
  readonly title: string;
  /** Markdown. */
  readonly description: string;
  /** The base URL of its operations. */
  readonly server: string;
  readonly operations: readonly ReferredOperation[];
}

export interface ReferredOperation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
}

/** With more operations than this, only their groups are expanded at first. */
const OPEN_MAX = 200;

export function referencePage(reference: Reference, publicUrl: string): Page {
  const { name, title, description, operations, server } = reference;
  const document = `/openapi/${name}`;
  // The page may send requests to its own address only.
  const isHere = server === publicUrl;
  const tryIt = `<p>To try an operation press <b>Authorize</b>, paste a key that begins with <code>sk_test_</code>, and then
<b>Try it out</b>. The key stays in this page and is forgotten when you leave it.</p>`;
  const rows = operations.map(
    ({ method, path, summary }) =>
      `<tr><td><code>${method}</code></td><td><code>${escapeHtml(path)}</code></td><td>${escapeHtml(summary)}</td></tr>`,
  );
  const attributes = [
    `data-document="${document}.json"`,
    `data-try="${isHere}"`,
    `data-expansion="${operations.length > OPEN_MAX ? 'none' : 'list'}"`,
  ].join(' ');
  const main = `<div class="reference-head"><h1>${escapeHtml(title)}</h1>
${renderMarkdown(description).html.replaceAll(/<(\/?)h1>/g, '<$1h2>')}
<p>As OpenAPI: <a href="${document}.json">${escapeHtml(name)}.json</a> · <a href="${document}.yaml">${escapeHtml(name)}.yaml</a></p>
${isHere ? `<div class="needs-script">${tryIt}</div>` : ''}</div>
<div id="reference" ${attributes}></div>
<noscript><div class="table" role="group" aria-label="Operations" tabindex="0"><table>
<thead><tr><th scope="col">Method</th><th scope="col">Path</th><th scope="col">Does</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></noscript>`;
  return {
    title,
    description: `Reference of ${title}: every operation.`,
    section: '/docs/reference',
    main,
    styles: ['swagger-ui.css', 'reference.css'],
    scripts: ['swagger-ui-bundle.js', 'reference.js'],
    wide: true,
  };
}

export function referencesPage(references: readonly Reference[]): Page {
  const main = `<h1>Reference</h1>\n${referenceCards(references)}`;
  return { title: 'Reference', description: 'Every operation of the API.', section: '/docs/reference', main };
}

export function referenceCards(references: readonly Reference[]): string {
  const cards = references.map(({ name, title, operations }) => {
    const count = `${operations.length} ${operations.length === 1 ? 'operation' : 'operations'}`;
    return `<li><a class="card" href="/docs/reference/${name}"><strong>${escapeHtml(title)}</strong> <span>${count}</span></a></li>`;
  });
  return `<ul class="cards">${cards.join('')}</ul>`;
}
