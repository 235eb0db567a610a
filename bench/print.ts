// Tables as people read them: on a terminal, or as Markdown to be pasted into a document.

import type { Machine } from './machine.ts';

export type Cell = string | number | undefined;
export type Row = Readonly<Record<string, Cell>>;

/** Columns of the first row; numbers to the right. */
export function markdownOf(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))];
  const widths = columns.map((_, index) => Math.max(3, ...cells.map((line) => line[index]?.length ?? 0)));
  const numeric = columns.map((column) => rows.every((row) => typeof row[column] !== 'string'));
  const pad = (text: string, index: number) =>
    numeric[index] ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0);
  const rule = widths.map((width, index) => (numeric[index] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  const [head = [], ...body] = cells.map((line) => line.map(pad));
  return [head, rule, ...body].map((line) => `| ${line.join(' | ')} |\n`).join('');
}

export function printTable(rows: readonly Row[], asMarkdown: boolean): void {
  if (asMarkdown) process.stdout.write(`${markdownOf(rows)}\n`);
  else console.table(rows);
}

export function sentenceOf({ node, cpu, cores, pinned, commit, date }: Machine): string {
  const kept = pinned ? 'the first one for the contestant alone' : 'processes are not pinned to cores';
  return `${date}, commit ${commit}, Node ${node}, ${cores} cores (${cpu}), ${kept}`;
}
