// Makes the tables of the page "Limits", as HTML and as Markdown.

import { escapeHtml } from './html.ts';

export interface Table {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly Row[];
}

export interface Row {
  readonly cells: readonly Cell[];
  /** The limit as `requests/seconds`, by which the headers of an answer show the reader's own tier. */
  readonly limit?: string;
}

/** Text, or operations. */
type Cell = string | readonly Link[];

export interface Link {
  readonly text: string;
  readonly href: string;
}

/** Links of one cell; the others unfold. */
const SHOWN_MAX = 3;

export function tableHtml({ label, head, rows }: Table): string {
  const body = rows.map(({ cells: [first = '', ...rest], limit }) => {
    const attributes = limit === undefined ? '' : ` data-limit="${limit}"`;
    return `<tr${attributes}><th scope="row">${cellHtml(first)}</th>${rest.map((one, index) => `<td data-head="${head[index + 1]}">${cellHtml(one)}</td>`).join('')}</tr>`;
  });
  return `<div class="table" role="group" aria-label="${label}" tabindex="0"><table><thead><tr>${head.map((text) => `<th scope="col">${text}</th>`).join('')}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>`;
}

function cellHtml(cell: Cell): string {
  if (typeof cell === 'string') return escapeHtml(cell);
  const links = cell.map(({ text, href }) => `<a href="${href}">${escapeHtml(text)}</a>`);
  const more = links.slice(SHOWN_MAX);
  const first = `<span>${links.slice(0, SHOWN_MAX).join(', ')}</span>`;
  return more.length === 0
    ? first
    : `${first}<details class="detail"><summary>and ${more.length} more</summary>${more.join(', ')}</details>`;
}

export function tableMarkdown({ head, rows }: Table): string {
  const cell = (value: Cell) =>
    typeof value === 'string' ? value : value.map(({ text, href }) => `[${text}](${href}.md)`).join(', ');
  const lines = [head, head.map(() => '---'), ...rows.map(({ cells }) => cells.map(cell))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
