// Prints the rules of contracts that the gateway does not enforce, in one line per kind, for `check` and `upstreams try`.

import type { UnenforcedPart } from '../contract/lint/unenforced.ts';
import { countText } from './print.ts';

const NAMED_MAX = 8;

/** Returns lines such as `formats: phone (12 operations), colour (1 operation)`. `--json` names the operations. */
export function unenforcedLines(all: readonly UnenforcedPart[]): string[] {
  return [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, things]) => {
    const named = things
      .slice(0, NAMED_MAX)
      .map(({ name, operations }) => `${name} (${countText(operations.length, 'operation')})`);
    const more = things.length > NAMED_MAX ? `, and ${things.length - NAMED_MAX} more` : '';
    return `${kind}: ${named.join(', ')}${more}`;
  });
}
