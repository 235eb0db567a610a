// Adds the files for programs: llms.txt for agents, and the index of the search.

import { llmsText } from './llms.ts';
import { plain } from './markdown.ts';
import type { DocumentTools } from './reference/reference.ts';
import { toResource } from './resource.ts';
import { type SearchedPages, searchIndex } from './search/index.ts';
import type { SiteMap } from './site-map.ts';

const TEXT = 'text/plain; charset=utf-8';

interface ProgramFilesOptions extends SearchedPages {
  readonly title: string;
  readonly description: string;
  readonly publicUrl: string;
  readonly tools: DocumentTools;
}

export function addProgramFiles(site: SiteMap, options: ProgramFilesOptions): void {
  const description = plain(options.description);
  const llms = () => toResource('document', TEXT, llmsText({ ...options, description }));
  // Programs request llms.txt at the root, and beside the documentation.
  for (const path of ['/llms.txt', '/docs/llms.txt']) site.add(path, llms);
  site.add('/docs/search.json', () => toResource('asset', 'application/json', searchIndex(options, options.tools)));
}
