// Selects the codes that the documentation lists: codes of the catalogue that can occur with the configuration. Every code has a page,
// because services and older answers may link to it.

import type { CatalogueEntry, CodeNeed } from '../catalogue/catalogue-entry.ts';
import { type ErrorCode, REFUSALS } from '../catalogue/errors.ts';

export function listedCodes(met: ReadonlySet<CodeNeed>): readonly ErrorCode[] {
  return (Object.keys(REFUSALS) as ErrorCode[]).filter((code) => {
    const need = needOf(code);
    return need === undefined || met.has(need);
  });
}

export function needOf(code: ErrorCode): CodeNeed | undefined {
  const { needs }: CatalogueEntry = REFUSALS[code];
  return needs;
}
