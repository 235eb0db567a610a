// Adds the pages of the error catalogue: the list, and one page for each code.

import { fileURLToPath } from 'node:url';
import { ALL_CAPABILITIES } from '../catalogue/capabilities.ts';
import { type ErrorCode, REFUSALS } from '../catalogue/errors.ts';
import { errorPage, errorsPage } from './error-pages.ts';
import { createFileDates } from './file-dates.ts';
import type { GuideFacts } from './guide-facts.ts';
import type { Page } from './layout.ts';
import type { SiteMap } from './site-map.ts';

/** The files that error pages are made from. The newest gives the pages their date. A capability may lack one of them. */
const CATALOGUE = [
  'catalogue/errors.ts',
  ...Object.keys(ALL_CAPABILITIES).flatMap((folder) => [`${folder}/capability.ts`, `${folder}/codes.ts`]),
].map((file) => fileURLToPath(new URL(`../${file}`, import.meta.url)));

interface CatalogueOptions {
  readonly publicUrl: string;
  /** Names of the guides. */
  readonly guides: ReadonlySet<string>;
  readonly facts: GuideFacts;
  /** The codes in the list. The other codes have pages, too. */
  readonly codes: readonly ErrorCode[];
}

export function addCataloguePages(site: SiteMap, { publicUrl, guides, facts, codes }: CatalogueOptions): void {
  const updated = createFileDates();
  const withDate = async (page: Page) => ({ ...page, updatedMs: await updated(CATALOGUE) });
  site.addPage('/docs/errors', () => withDate(errorsPage(codes, guides)));
  for (const code of Object.keys(REFUSALS) as ErrorCode[]) {
    const options = { publicUrl, guides, facts, isListed: codes.includes(code) };
    site.addPage(`/docs/errors/${code}`, () => withDate(errorPage(code, options)));
  }
}
