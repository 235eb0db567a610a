// The resources of the documentation by path, each with the function that makes it at its first request.

import { type Frame, layOut, type Page } from './layout.ts';
import { withMarkdownLinks } from './markdown.ts';
import { createPageStore, type Make, type PageStore } from './page-store.ts';
import { toResource } from './resource.ts';

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';

type MakePage = () => Page | Promise<Page>;

export interface SiteMap {
  add(path: string, make: Make): void;
  /** Adds a page as two resources: HTML, and Markdown at the same path with `.md`. */
  addPage(path: string, make: MakePage): void;
  /** Adds a page as `addPage` does, for pages of which there are too many to keep all (page-store.ts). */
  addOneOfMany(path: string, make: MakePage): void;
  toStore(): PageStore;
}

export function createSiteMap(frame: Frame, assets: Iterable<readonly [string, Make]>): SiteMap {
  const fixed = new Map<string, Make>(assets);
  const many = new Map<string, Make>();

  function addTo(resources: Map<string, Make>, path: string, make: MakePage): void {
    resources.set(path, async () => toResource('page', HTML, layOut(await make(), frame)));
    resources.set(`${path}.md`, async () =>
      toResource('document', MARKDOWN, withMarkdownLinks((await make()).markdown)),
    );
  }

  return {
    add: (path, make) => void fixed.set(path, make),
    addPage: (path, make) => addTo(fixed, path, make),
    addOneOfMany: (path, make) => addTo(many, path, make),
    toStore: () => createPageStore(fixed, many),
  };
}
