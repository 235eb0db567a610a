// The tables of docs/errors.md, made from the catalogue: one for each type.

import type { CatalogueEntry } from '../../gateway/catalogue/catalogue-entry.ts';
import { REFUSALS } from '../../gateway/catalogue/errors.ts';
import { table } from './table.ts';

const RETRY_WORDS = { true: 'yes', false: 'no', if_safe: 'if safe' };

/** Returns the tables with a heading each, in the order of the catalogue. */
export function errorTables(): string {
  const byType = Map.groupBy(Object.entries<CatalogueEntry>(REFUSALS), ([, { type }]) => type);
  return [...byType]
    .map(([type, rows]) => {
      const lines = rows.map(([code, { status, meaning, remedy, retryable }]) => [
        `\`${code}\``,
        String(status),
        linked(meaning),
        linked(remedy),
        RETRY_WORDS[`${retryable}`],
      ]);
      return `### \`${type}\`\n\n${table(['Code', 'Status', 'Meaning', 'What to do', 'Retry'], lines)}`;
    })
    .join('\n\n');
}

/** The texts link to pages that the gateway makes and serves: the files of the guides are templates. */
function linked(text: string): string {
  return text.replace(/\[([^\]]+)\]\((\/docs\/[\w/-]+)\)/g, '$1 (`$2`)');
}
