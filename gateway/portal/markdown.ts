// Renders Markdown to HTML: headings with anchors, code reachable by keyboard. HTML in the source is escaped, because contracts of
// other authors contain descriptions.

import { Marked, type Tokens } from 'marked';
import { escapeHtml } from './html.ts';

/** Links may lead to pages, anchors and addresses, never to scripts. */
const linkForm = /^(https?:\/\/|mailto:|[/#])/i;

export interface Rendered {
  readonly html: string;
  /** Headings of the second level, for a table of contents. */
  readonly sections: readonly { readonly id: string; readonly text: string }[];
}

export function renderMarkdown(markdown: string): Rendered {
  const sections: { id: string; text: string }[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = idOf(text);
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${inner}</h1>\n`;
        if (depth === 2) sections.push({ id, text: plain(text) });
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`;
      },
      code({ text, lang = '' }: Tokens.Code) {
        return codeBlock(text, labels[lang] ?? 'Code');
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
      html: ({ text }) => escapeHtml(text),
    },
  });
  return { html: marked.parse(markdown, { async: false }), sections };
}

/** A wide table scrolls by itself, also by keyboard. */
const TABLE = '<div class="table" role="group" aria-label="Table" tabindex="0"><table>';

const labels: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'JavaScript',
  json: 'JSON',
  http: 'HTTP',
  text: 'Output',
};

/** Renders a block of code. */
export function codeBlock(text: string, label: string): string {
  const attributes = `class="code" role="group" aria-label="${label}" tabindex="0"`;
  return `<div ${attributes}><pre><code>${escapeHtml(text)}</code></pre></div>\n`;
}

/** Renders one line of Markdown without a surrounding paragraph. */
export function renderLine(markdown: string): string {
  return renderMarkdown(markdown)
    .html.trim()
    .replace(/^<p>|<\/p>$/g, '');
}

function idOf(heading: string): string {
  return plain(heading)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function plain(text: string): string {
  return text.replace(/`/g, '');
}
