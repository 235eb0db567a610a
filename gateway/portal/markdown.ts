// Renders Markdown to HTML, with anchors at headings, and code that is reachable by keyboard. HTML in the source is escaped, because
// descriptions come from contracts of other authors.

import { Marked, type Token, type Tokens } from 'marked';
import { REFUSALS } from '../catalogue/errors.ts';
import { highlight } from './highlight.ts';
import { createSlugs, escapeHtml, shorten } from './html.ts';
import { tabs } from './tabs.ts';

/** Links may lead to pages, anchors and addresses, never to scripts. */
const LINK_FORM = /^(https?:\/\/|mailto:|[/#])/i;

/** Longer text is cut, because some forms of Markdown take time in proportion to the square of their length. */
const MARKDOWN_MAX = 200_000;
const DESCRIPTION_MAX = 8_000;

export interface RenderedPage {
  readonly html: string;
  /** Headings of the second level, for a table of contents. */
  readonly sections: readonly { readonly id: string; readonly text: string }[];
}

interface RenderState {
  sections: { id: string; text: string }[];
  slug: ReturnType<typeof createSlugs>;
  /** The number of levels by which headings are lowered, without anchors; 0 for a separate page. */
  lower: number;
  /** Groups of samples so far. */
  groups: number;
}

let rendering: RenderState = { sections: [], slug: createSlugs(), lower: 0, groups: 0 };

/** The languages of one example that stand below each other become tabs. */
interface SamplesToken {
  readonly type: 'samples';
  readonly raw: string;
  readonly blocks: readonly Tokens.Code[];
}

const marked = new Marked({
  extensions: [{ name: 'samples', renderer: (token) => samplesHtml(token as unknown as SamplesToken) }],
  renderer: {
    heading({ tokens, depth, text }: Tokens.Heading) {
      const inner = this.parser.parseInline(tokens);
      const { lower, sections, slug } = rendering;
      if (lower > 0) {
        const level = Math.min(6, depth + lower);
        return `<h${level}>${inner}</h${level}>\n`;
      }
      if (depth === 1) return `<h1>${inner}</h1>\n`;
      const id = slug(plain(text).toLowerCase(), 'section');
      if (depth === 2) sections.push({ id, text: plain(text) });
      return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`;
    },
    code({ text, lang = '' }: Tokens.Code) {
      return codeBlock(text, lang);
    },
    table(token: Tokens.Table) {
      const cells = (row: Tokens.TableCell[], open: string, close: string) =>
        row.map(({ tokens }) => `${open}${this.parser.parseInline(tokens)}${close}`).join('');
      const head = cells(token.header, '<th scope="col">', '</th>');
      const rows = token.rows.map((row) => `<tr>${cells(row, '<td>', '</td>')}</tr>`).join('\n');
      return `${TABLE}<thead><tr>${head}</tr></thead><tbody>\n${rows}\n</tbody></table></div>\n`;
    },
    link({ href, tokens }: Tokens.Link) {
      const inner = this.parser.parseInline(tokens);
      return LINK_FORM.test(href) ? `<a href="${escapeHtml(href)}">${inner}</a>` : inner;
    },
    // Pages load nothing from elsewhere.
    image: ({ text }: Tokens.Image) => escapeHtml(text),
    // The box of a list of tasks would be a control without a name.
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
    html: ({ text }) => escapeHtml(text),
  },
});

/** Makes links to pages lead to their Markdown, because a reader of one page in Markdown wants the next page in Markdown, too. */
export function withMarkdownLinks(markdown: string): string {
  return markdown.replace(/\]\((\/docs(?:\/[\w/-]+)?)((?:#[^)\s]*)?)\)/g, ']($1.md$2)');
}

/** Renders a separate page. */
export function renderMarkdown(markdown: string): RenderedPage {
  return render(markdown.slice(0, MARKDOWN_MAX), 0);
}

/** Renders a description within a page, with at most 8,000 characters, and headings from the third level on, without anchors. */
export function renderDescription(markdown: string): string {
  if (markdown === '') return '';
  return render(shorten(markdown, DESCRIPTION_MAX), 2).html;
}

function render(markdown: string, lower: number): RenderedPage {
  rendering = { sections: [], slug: createSlugs(), lower, groups: 0 };
  const { sections } = rendering;
  try {
    const tokens = marked.lexer(markdown);
    return { html: withCodeLinks(withLimits(marked.parser(lower === 0 ? withTabs(tokens) : tokens))), sections };
  } catch {
    // Quotations nested by the thousand exceed the stack of the library.
    return { html: `<p>${escapeHtml(markdown)}</p>`, sections };
  }
}

/** Matches links and blocks, which stay unchanged, or a name in code. */
const CODE = /<a [\s\S]*?<\/a>|<pre>[\s\S]*?<\/pre>|<h\d[\s\S]*?<\/h\d>|<code>([a-z_]+)<\/code>/g;

/** Each error code leads to its page. */
function withCodeLinks(html: string): string {
  return html.replace(CODE, (whole, name: string | undefined) =>
    name !== undefined && Object.hasOwn(REFUSALS, name) ? `<a href="/docs/errors/${name}">${whole}</a>` : whole,
  );
}

/** The languages of examples, by their names in Markdown. They have the ids of the languages of samples in the reference. */
const LANGUAGE_IDS: Readonly<Record<string, readonly [id: string, label: string]>> = {
  sh: ['curl', 'curl'],
  js: ['javascript', 'JavaScript'],
  python: ['python', 'Python'],
  go: ['go', 'Go'],
};

/** Joins neighbouring code blocks of different languages to tabs, if only space is between them. */
function withTabs(tokens: readonly Token[]): Token[] {
  const joined: Token[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const blocks: Tokens.Code[] = [];
    let end = at;
    while (isSample(tokens[end]) && !blocks.some(({ lang }) => lang === (tokens[end] as Tokens.Code).lang)) {
      blocks.push(tokens[end] as Tokens.Code);
      end += 1;
      while (tokens[end]?.type === 'space') end += 1;
    }
    if (blocks.length > 1) joined.push({ type: 'samples', raw: '', blocks } as unknown as Token);
    else joined.push(tokens[at] as Token);
    if (blocks.length > 1) at = end - 1;
  }
  return joined;
}

function isSample(token: Token | undefined): boolean {
  return token?.type === 'code' && Object.hasOwn(LANGUAGE_IDS, (token as Tokens.Code).lang ?? '');
}

function samplesHtml({ blocks }: SamplesToken): string {
  rendering.groups += 1;
  const all = blocks.map(({ text, lang = '' }) => {
    const [id, label] = LANGUAGE_IDS[lang] as readonly [string, string];
    return { id, label, panel: codeBlock(text, lang) };
  });
  return `<div class="sample guide-sample">${tabs(`language-${rendering.groups}`, 'Language', all)}</div>\n`;
}

/**
 * Marks the numbers of a tier, which a script replaces by the numbers of the reader's tier. `\uE001100\uE001` is such a number; between
 * `\uE002` the number is one less.
 */
function withLimits(html: string): string {
  return html
    .replace(/\uE001(\d{1,10})\uE001/g, '<span class="my-limit">$1</span>')
    .replace(/\uE002(\d{1,10})\uE002/g, '<span class="my-limit" data-less="1">$1</span>');
}

/** Returns a text without the marks of numbers. */
export function withoutLimits(text: string): string {
  return text.replace(/[\uE001\uE002]/g, '');
}

/** A wide table scrolls by itself, also by keyboard. */
const TABLE = '<div class="table" role="group" aria-label="Table" tabindex="0"><table>';

const LANGUAGE_LABELS: Readonly<Record<string, string>> = {
  sh: 'Shell',
  shell: 'Shell',
  js: 'JavaScript',
  json: 'JSON',
  python: 'Python',
  go: 'Go',
  http: 'HTTP',
  text: 'Output',
};

/** Renders a block of code with a button that copies it. */
export function codeBlock(text: string, language: string, label = LANGUAGE_LABELS[language] ?? 'Code'): string {
  const attributes = `class="code" role="group" aria-label="${escapeHtml(label)}" tabindex="0"`;
  return `<div class="block"><div ${attributes}><pre><code>${highlight(text, language)}</code></pre></div>${COPY}</div>\n`;
}

/** Works with a script only, which shows it. */
const COPY = '<button type="button" class="copy" hidden>Copy</button>';

/** Renders one line of Markdown without a surrounding paragraph. */
export function renderLine(markdown: string): string {
  return renderMarkdown(markdown)
    .html.trim()
    .replace(/^<p>|<\/p>$/g, '');
}

/** Returns the words of Markdown, for search and for descriptions of pages. */
export function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*#>|]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
