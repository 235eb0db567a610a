// Adds the feeds of changes.

import type { AddressedContract } from '../reference/addresses.ts';
import { toResource } from '../resource.ts';
import type { PortalOptions } from '../site.ts';
import type { SiteMap } from '../site-map.ts';
import { changesEntries } from './entries.ts';
import { changesFeed, feedPath } from './feed.ts';

const ATOM = 'application/atom+xml; charset=utf-8';

export function addFeeds(
  site: SiteMap,
  { publications, publicUrl }: Pick<PortalOptions, 'publications' | 'publicUrl'>,
  references: readonly AddressedContract[],
  title: string,
): void {
  for (const [path, entries] of feedsOf(publications, references)) {
    const feed = () => changesFeed(entries, { title, publicUrl, path });
    site.add(path, () => toResource('document', ATOM, feed()));
  }
}

/** Returns the feed of all changes, and the feed of each contract; empty if nothing is recorded. */
function feedsOf(publications: PortalOptions['publications'], references: readonly AddressedContract[]) {
  const all = changesEntries(publications, references);
  const own = Map.groupBy(all, ({ publication }) => feedPath(publication.contract));
  return all.length === 0 ? [] : [[feedPath(), all] as const, ...own];
}
