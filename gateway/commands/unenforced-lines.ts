// Prints the rules of contracts that the gateway does not enforce, in one line per kind, for `check` and `upstreams try`.

import type { Unenforced } from '../contract/lint/unenforced.ts';
import { counted } from './print.ts';

const NAMED_MAX = 8;

/** Returns lines such as `formats: phone (12 operations), colour (1 operation)`. `--json` names the operations. */
export function unenforcedLines(all: readonly Unenforced[]): string[] {
  return [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, things]) => {
    const named = things
      .slice(0, NAMED_MAX)
      .map(({ name, operations }) => `${name} (${counted(operations.length, 'operation')})`);
    const more = things.length > NAMED_MAX ? `, and ${things.length - NAMED_MAX} more` : '';
    return `${kind}: ${named.join(', ')}${more}`;
  });
}
