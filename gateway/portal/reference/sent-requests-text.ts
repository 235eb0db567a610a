// Writes the requests that services send to their clients, as HTML and as Markdown.

import { escapeHtml } from '../html.ts';
import { renderDescription } from '../markdown.ts';
import type { SchemaHtml } from './schema-html.ts';
import { mediaLines } from './schema-markdown.ts';
import type { SentRequestView } from './sent-requests.ts';

/** Renders the requests. @param id the id, with which the ids of nested elements begin, too */
export function sentRequestsHtml(
  { heading, id }: { readonly heading: string; readonly id: string },
  requests: readonly SentRequestView[],
  render: SchemaHtml,
): string {
  if (requests.length === 0) return '';
  const items = requests.map(({ name, method, address, summary, description, body }, index) => {
    const own = `${id}-${index + 1}`;
    const target = address === '' ? '' : ` <code>${escapeHtml(address)}</code>`;
    const said = body === undefined ? '' : renderDescription(body.description) + render.media(body.media, own);
    return `<details class="answer" id="${own}"><summary><span class="method ${method.toLowerCase()}">${method}</span>${target} <span>${escapeHtml(name)}</span></summary>
${renderDescription(summary)}${renderDescription(description)}${said}</details>`;
  });
  return `<h2 id="${id}">${heading}</h2>${items.join('\n')}`;
}

/** Returns the requests as lines of Markdown. */
export function sentRequestsLines(heading: string, requests: readonly SentRequestView[]): string[] {
  if (requests.length === 0) return [];
  return [
    `## ${heading}`,
    ...requests.flatMap(({ name, method, address, summary, description, body }) => [
      `### \`${address === '' ? method : `${method} ${address}`}\` ${name}`,
      summary,
      description,
      ...(body === undefined ? [] : [body.description, ...mediaLines(body.media)]),
    ]),
  ];
}
