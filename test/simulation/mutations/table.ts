// The results of searches as the table of docs/reliability.md.

import type { Mutation } from './mutation.ts';
import type { SearchResult } from './search.ts';

const HEAD = ['Protocol', 'Defect', 'File', 'Found after'] as const;

export function tableOf(results: readonly (readonly [Mutation, SearchResult])[]): string {
  const rows = [
    HEAD,
    ...results.map(([{ protocol, defect, file }, result]) => {
      return [protocol, defect, `\`${file.replace('gateway/', '')}\``, foundAfter(result)];
    }),
  ];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  const lineOf = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] as number)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lineOf(HEAD), rule, ...rows.slice(1).map(lineOf)].join('\n');
}

export function foundAfter({ found, hours }: SearchResult): string {
  return found === undefined ? `not found in ${hours.toFixed(0)} h` : `${hours.toFixed(1)} h by \`${found.checker}\``;
}
