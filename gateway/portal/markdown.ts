// Renders Markdown to HTML: headings with anchors, code reachable by keyboard. HTML in the source is escaped, because contracts of
// other authors contain descriptions.

import { Marked, type Tokens } from 'marked';
import { highlight } from './highlight.ts';
import { createSlugs, escapeHtml, shortened } from './html.ts';

/** Links may lead to pages, anchors and addresses, never to scripts. */
const linkForm = /^(https?:\/\/|mailto:|[/#])/i;

/** Longer text is cut: some forms of Markdown take time in proportion to the square of their length. */
const MARKDOWN_MAX = 200_000;
const DESCRIPTION_MAX = 8_000;

export interface Rendered {
  readonly html: string;
  /** Headings of the second level, for a table of contents. */
  readonly sections: readonly { readonly id: string; readonly text: string }[];
}

interface Rendering {
  sections: { id: string; text: string }[];
  slug: ReturnType<typeof createSlugs>;
  /** Headings are set this much lower, without anchors. 0: a page of its own. */
  lower: number;
}

let rendering: Rendering = { sections: [], slug: createSlugs(), lower: 0 };

const marked = new Marked({
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
      return linkForm.test(href) ? `<a href="${escapeHtml(href)}">${inner}</a>` : inner;
    },
    // Pages load nothing from elsewhere.
    image: ({ text }: Tokens.Image) => escapeHtml(text),
    // The box of a list of tasks would be a control without a name.
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
    html: ({ text }) => escapeHtml(text),
  },
});

/** Renders a page of its own. */
export function renderMarkdown(markdown: string): Rendered {
  return render(markdown.slice(0, MARKDOWN_MAX), 0);
}

/** Renders a description within a page: at most 8,000 characters, headings from the third level on, without anchors. */
export function renderDescription(markdown: string): string {
  if (markdown === '') return '';
  return render(shortened(markdown, DESCRIPTION_MAX), 2).html;
}

function render(markdown: string, lower: number): Rendered {
  rendering = { sections: [], slug: createSlugs(), lower };
  const { sections } = rendering;
  try {
    return { html: marked.parse(markdown, { async: false }), sections };
  } catch {
    // Quotations nested by the thousand exceed the stack of the library.
    return { html: `<p>${escapeHtml(markdown)}</p>`, sections };
  }
}

/** A wide table scrolls by itself, also by keyboard. */
const TABLE = '<div class="table" role="group" aria-label="Table" tabindex="0"><table>';

const labels: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'JavaScript',
  json: 'JSON',
  python: 'Python',
  go: 'Go',
  http: 'HTTP',
  text: 'Output',
};

/** Renders a block of code with a button that copies it. */
export function codeBlock(text: string, language: string, label = labels[language] ?? 'Code'): string {
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
