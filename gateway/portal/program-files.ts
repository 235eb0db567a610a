// Adds the files for programs: llms.txt for agents, and the index of the search.

import type { ErrorCode } from '../catalogue/errors.ts';
import type { Guide } from './guides.ts';
import type { HelpLinks, Page } from './layout.ts';
import { llmsText } from './llms.ts';
import { plain } from './markdown.ts';
import type { AddressedContract } from './reference/addresses.ts';
import type { DocumentTools } from './reference/reference.ts';
import { toResource } from './resource.ts';
import { searchIndex } from './search/index.ts';
import type { SiteMap } from './site-map.ts';

const TEXT = 'text/plain; charset=utf-8';

interface ProgramFilesOptions {
  readonly title: string;
  readonly description: string;
  readonly publicUrl: string;
  readonly references: readonly AddressedContract[];
  readonly guides: readonly Guide[];
  /** The pages beside guides, reference and errors. */
  readonly pages: readonly Page[];
  readonly codes: readonly ErrorCode[];
  readonly help: HelpLinks;
  readonly tools: DocumentTools;
}

export function addProgramFiles(site: SiteMap, options: ProgramFilesOptions): void {
  const description = plain(options.description);
  const llms = () => toResource('document', TEXT, llmsText({ ...options, description }));
  // Programs request llms.txt at the root, and beside the documentation.
  for (const path of ['/llms.txt', '/docs/llms.txt']) site.add(path, llms);
  site.add('/docs/search.json', () => toResource('asset', 'application/json', searchIndex(options, options.tools)));
}
