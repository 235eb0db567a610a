// Loads the guides of the configuration, and the gateway's own guides that apply to the served contracts.

import { readFile, stat } from 'node:fs/promises';
import type { GuideSource } from '../shared/guide-source.ts';
import { fillIn, type GuideFacts } from './guide-facts.ts';
import { KEY_MARK, KEY_PLACEHOLDER } from './highlight.ts';
import { escapeHtml } from './html.ts';
import { linkList, neighbourLinks, type Page } from './layout.ts';
import { plain, type RenderedPage, renderMarkdown, withoutLimits } from './markdown.ts';

const GUIDES_FOLDER = new URL('../../docs/guides/', import.meta.url);

interface BuiltIn {
  readonly name: string;
  readonly summary: string;
  /** The facts without which the guide does not apply. */
  readonly needs: readonly string[];
}

/** The guides of the gateway, in reading order. */
const GUIDES: readonly BuiltIn[] = [
  { name: 'quickstart', summary: 'From a key to a first write and a first error.', needs: ['keys', 'read'] },
  { name: 'authentication', summary: 'Keys, scopes, live and test.', needs: ['keys'] },
  { name: 'pagination', summary: 'Lists page by page, filtered and sorted.', needs: ['operation listCustomers'] },
  { name: 'errors', summary: 'One object for everything that goes wrong.', needs: [] },
  { name: 'rate-limits', summary: 'How much is left, and when to go on.', needs: ['keys'] },
  { name: 'idempotency', summary: 'Sending a write again without doing it twice.', needs: ['write'] },
  {
    name: 'browser-applications',
    summary: 'Signing people in without holding a token.',
    needs: ['operation getSession'],
  },
  { name: 'sdks', summary: 'A client in your language, made of the contract.', needs: ['contract'] },
  { name: 'versioning', summary: 'What may change, and what never does.', needs: ['version'] },
];

export const BUILT_IN_GUIDES: readonly string[] = GUIDES.map(({ name }) => name);

export interface Guide extends GuideSource {
  readonly rendered: RenderedPage;
}

interface GuideChoice {
  /** Guides of the configuration. */
  readonly own: readonly GuideSource[];
  readonly builtIn: boolean | readonly string[];
  readonly facts: GuideFacts;
}

/**
 * Reads and renders the guides that apply, in reading order. A guide of the configuration replaces the gateway's guide of the same name.
 */
export async function loadGuides({ own, builtIn, facts }: GuideChoice): Promise<Guide[]> {
  const replaced = new Set(own.map(({ name }) => name));
  const wanted = GUIDES.filter(
    ({ name }) => !replaced.has(name) && (Array.isArray(builtIn) ? builtIn.includes(name) : builtIn === true),
  );
  const drafts = (await Promise.all(wanted.map((guide, index) => builtInGuide(guide, 100 + index, facts)))).flat();
  const names = new Set([...own, ...drafts].map(({ name }) => name));
  return [...own, ...drafts]
    .sort((one, other) => one.order - other.order || one.title.localeCompare(other.title))
    .map((guide) => {
      const markdown = withKnownGuides(guide.markdown, names).replace(
        /\]\((?:\.\/)?([\w-]+)\.md(#[^)]*)?\)/g,
        '](/docs/guides/$1$2)',
      );
      return { ...guide, markdown, rendered: renderMarkdown(markdown) };
    });
}

/** Returns the guide; empty if it does not apply. */
async function builtInGuide(
  { name, summary, needs }: BuiltIn,
  order: number,
  facts: GuideFacts,
): Promise<GuideSource[]> {
  if (!needs.every((need) => facts.has(need))) return [];
  const file = new URL(`${name}.md`, GUIDES_FOLDER);
  const [text, { mtimeMs: updatedMs }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
  const markdown = withSetup(fillIn(text, facts), facts.get('url') ?? '');
  const [, title = name] = /^# (.*)$/m.exec(markdown) ?? [];
  return [{ name, title, summary, order, markdown, updatedMs }];
}

/** An example, with the paragraph that leads to it. */
const EXAMPLE = /^(?:(?:[^\n#`|-][^\n]*\n)+\n)?^```(?:sh|js|python)\n(?:(?!^```$)[\s\S])*?\bAPI_URL\b/m;

/** Inserts the text about setting address and key before the sentence that introduces the first example that uses them. */
function withSetup(markdown: string, url: string): string {
  const setup = `The examples read the address and your key from the environment. Set both once in your shell:

\`\`\`sh
export API_URL=${url}
export API_KEY=${KEY_MARK}
\`\`\`

`;
  return markdown.replace(EXAMPLE, (example) => setup + example);
}

/** Turns links to guides that are not shown into plain words. */
export function withKnownGuides(markdown: string, names: ReadonlySet<string>): string {
  return markdown.replace(/\[([^\]]*)\]\(\/docs\/guides\/([\w-]+)(#[^)]*)?\)/g, (link, text: string, name: string) =>
    names.has(name) ? link : text,
  );
}

function pathOf({ name }: Guide): string {
  return `/docs/guides/${name}`;
}

export function guidePage(guide: Guide, all: readonly Guide[]): Page {
  const { title, summary, markdown, rendered, updatedMs } = guide;
  const path = pathOf(guide);
  const at = all.indexOf(guide);
  const [before, after] = [all[at - 1], all[at + 1]].map((one) => one && { path: pathOf(one), title: one.title });
  const here = rendered.sections.map(({ id, text }) => [`#${id}`, text] as const);
  return {
    path,
    title,
    description: summary || plain(markdown).slice(0, 160),
    section: '/docs/guides',
    main: `<article class="guide">${rendered.html}\n${neighbourLinks(before, after)}</article>`,
    markdown: withoutLimits(markdown.replaceAll(KEY_MARK, KEY_PLACEHOLDER)),
    contents: guideLinks(all, path),
    styles: ['reference.css'],
    ...(here.length > 1 ? { onThisPage: linkList('On this page', here) } : {}),
    updatedMs,
  };
}

function guideLinks(all: readonly Guide[], current: string): string {
  return linkList(
    'Guides',
    all.map((guide) => [pathOf(guide), guide.title] as const),
    current,
  );
}

export function guidesPage(all: readonly Guide[], title: string): Page {
  const list = all.map(
    ({ name, title: own, summary }) => `- [${own}](/docs/guides/${name}.md)${summary && `: ${summary}`}`,
  );
  const description = `How to work with ${title}.`;
  return {
    path: '/docs/guides',
    title: 'Guides',
    description,
    section: '/docs/guides',
    main: `<h1>Guides</h1>\n<div class="lead"><p>${escapeHtml(description)}</p></div>\n${guideCards(all)}`,
    markdown: `# Guides\n\n${description}\n\n${list.join('\n')}\n`,
    contents: guideLinks(all, ''),
  };
}

export function guideCards(all: readonly Guide[]): string {
  const cards = all.map(
    ({ name, title, summary }) =>
      `<li><a class="card" href="/docs/guides/${name}"><strong>${escapeHtml(title)}</strong> <span>${escapeHtml(summary)}</span></a></li>`,
  );
  return `<ul class="cards">${cards.join('')}</ul>`;
}
