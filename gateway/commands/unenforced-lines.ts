// Prints the rules of contracts that the gateway does not enforce, in one line per kind, for `check` and `upstreams try`.

import type { UnenforcedPart } from '../contract/lint/unenforced.ts';
import { firstNames } from '../shared/text.ts';
import { countText } from './print.ts';

const NAMED_MAX = 8;

/** Returns lines such as `formats: phone (12 operations), colour (1 operation)`. `--json` names the operations. */
export function unenforcedLines(all: readonly UnenforcedPart[]): string[] {
  return [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, things]) => {
    const named = things.map(({ name, operations }) => `${name} (${countText(operations.length, 'operation')})`);
    return `${kind}: ${firstNames(named, NAMED_MAX)}`;
  });
}
