// The guides: Markdown files of the repository, with examples in curl and JavaScript.

import { readFile } from 'node:fs/promises';
import { escapeHtml } from './html.ts';
import { linkList, type Page } from './layout.ts';
import { renderMarkdown } from './markdown.ts';

const directory = new URL('../../docs/guides/', import.meta.url);

/** The placeholder for the gateway's address in the files. */
const EXAMPLE_URL = 'https://api.example.com';

export interface Guide {
  /** The name of its file and of its page. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
}

export const GUIDES: readonly Guide[] = [
  { name: 'authentication', title: 'Authentication', summary: 'Keys, scopes, live and test.' },
  { name: 'pagination', title: 'Pagination', summary: 'Lists page by page, filtered and sorted.' },
  { name: 'errors', title: 'Errors', summary: 'One object for everything that goes wrong.' },
  { name: 'rate-limits', title: 'Rate limits', summary: 'How much is left, and when to go on.' },
  { name: 'idempotency', title: 'Idempotency', summary: 'Sending a write again without doing it twice.' },
  { name: 'versioning', title: 'Versioning', summary: 'What may change, and what never does.' },
];

/** Reads and renders one guide. */
export async function guidePage({ name, title, summary }: Guide, publicUrl: string): Promise<Page> {
  const text = await readFile(new URL(`${name}.md`, directory), 'utf8');
  const { html, sections } = renderMarkdown(text.replaceAll(EXAMPLE_URL, publicUrl));
  const path = (guide: Guide) => `/docs/guides/${guide.name}`;
  const guides = GUIDES.map((guide) => [path(guide), guide.title] as const);
  const here = sections.map(({ id, text }) => [`#${id}`, text] as const);
  const aside = linkList('Guides', guides, `/docs/guides/${name}`) + linkList('On this page', here);
  return { title, description: summary, section: '/docs/guides', main: `<article>${html}</article>`, aside };
}

export function guidesPage(): Page {
  const main = `<h1>Guides</h1>\n${guideCards()}`;
  return { title: 'Guides', description: 'How to work with the platform API.', section: '/docs/guides', main };
}

export function guideCards(): string {
  const cards = GUIDES.map(
    ({ name, title, summary }) =>
      `<li><a class="card" href="/docs/guides/${name}"><strong>${escapeHtml(title)}</strong> <span>${escapeHtml(summary)}</span></a></li>`,
  );
  return `<ul class="cards">${cards.join('')}</ul>`;
}
