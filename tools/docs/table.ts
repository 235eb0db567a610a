// Markdown tables, and the places in a page that they are written to.

export type Cells = readonly string[];

/** Returns a table in the form that the formatter of the repository gives it. `|` in cells is escaped. */
export function table(head: Cells, rows: readonly Cells[]): string {
  const all = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...all.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: Cells) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [first = [], ...others] = all;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n');
}

/**
 * Replaces the text between `<!-- generated: NAME -->` and `<!-- end -->`. Throws if a marker has no text, or a text no marker: a page
 * would otherwise keep an old table.
 */
export function fill(page: string, texts: Readonly<Record<string, string>>): string {
  const unused = new Set(Object.keys(texts));
  const filled = page.replace(
    /^(<!-- generated: (.+?) -->)\n[\s\S]*?^(<!-- end -->)$/gm,
    (_, begin: string, name: string, end: string) => {
      const text = texts[name];
      if (text === undefined) throw new Error(`There is no text for "${name}".`);
      unused.delete(name);
      return `${begin}\n\n${text}\n\n${end}`;
    },
  );
  if (unused.size > 0) throw new Error(`There is no place for ${[...unused].join(', ')}.`);
  return filled;
}
