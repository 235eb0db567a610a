// Writes the feeds of changes (RFC 4287), of all contracts and of each contract. Ids and dates follow from the record, so that readers see
// each entry once.

import { escapeHtml } from '../html.ts';
import type { AddressedContract } from '../reference/addresses.ts';
import { toResource } from '../resource.ts';
import type { PortalOptions } from '../site.ts';
import type { SiteMap } from '../site-map.ts';
import { CHANGES_PATH, type ChangesEntry, changesEntries, linesOf } from './entries.ts';
import { isAllForOperators } from './row-html.ts';
import { changeRows } from './rows.ts';

const ATOM = 'application/atom+xml; charset=utf-8';
const FEED_MAX = 30;

/** Returns the path of the feed of one contract; without a name, of all contracts. */
export function feedPath(contract?: string): string {
  return `${CHANGES_PATH}${contract === undefined ? '' : `/${contract}`}.atom`;
}

interface FeedOptions {
  readonly title: string;
  readonly publicUrl: string;
  /** The path of the feed. */
  readonly path: string;
}

/** Returns XML. */
export function changesFeed(all: readonly ChangesEntry[], { title, publicUrl, path }: FeedOptions): string {
  const entries = all
    .filter((entry) => !isAllForOperators(entry))
    .slice(0, FEED_MAX)
    .map(forClients);
  const dateOf = ({ day }: ChangesEntry) => day.toISOString();
  const items = entries.map((entry) => {
    const address = `${publicUrl}${CHANGES_PATH}#${entry.id}`;
    const content = linesOf(entry).join('\n');
    return `  <entry>
    <id>${escapeXml(address)}</id>
    <title>${escapeXml(`${entry.contract.reference.title}: ${summaryOf(entry)}`)}</title>
    <link href="${escapeXml(address)}"/>
    <updated>${dateOf(entry)}</updated>
    <content type="text">${escapeXml(content)}</content>
  </entry>`;
  });
  const [newest] = entries;
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${escapeXml(`${publicUrl}${path.replace(/\.atom$/, '')}`)}</id>
  <title>${escapeXml(`Changes of ${title}`)}</title>
  <link href="${escapeXml(`${publicUrl}${path}`)}" rel="self"/>
  <link href="${escapeXml(`${publicUrl}${CHANGES_PATH}`)}"/>
  <author><name>${escapeXml(title)}</name></author>
  <updated>${newest === undefined ? '1970-01-01T00:00:00.000Z' : dateOf(newest)}</updated>
${items.join('\n')}
</feed>
`;
}

/** Returns the entry without changes for operators. A change may affect operations for clients and for operators. */
function forClients(entry: ChangesEntry): ChangesEntry {
  const { contract, publication } = entry;
  const ofOperators = new Set(
    contract.operations.filter(({ isForOperators }) => isForOperators).map(({ operation }) => operation.id),
  );
  const changes = publication.changes
    .map((change) => ({ ...change, operations: change.operations.filter(({ id }) => !ofOperators.has(id)) }))
    .filter(({ operations }) => operations.length > 0);
  return { ...entry, publication: { ...publication, changes } };
}

function summaryOf(entry: ChangesEntry): string {
  const { changes, operations } = entry.publication;
  if (changes.length === 0) return `published with ${operations} operations`;
  const rows = changeRows(changes);
  const breaking = rows.filter(({ mark }) => mark === 'breaking').length;
  const other = rows.length - breaking;
  const parts = [
    ...(breaking > 0 ? [`${breaking} breaking ${breaking === 1 ? 'change' : 'changes'}`] : []),
    ...(other > 0 ? [`${other} ${breaking > 0 ? 'other ' : ''}${other === 1 ? 'change' : 'changes'}`] : []),
  ];
  return parts.join(', ');
}

/** Escapes a text. XML allows no control characters except tabs and line ends, not even if they are escaped (section 2.2). */
function escapeXml(text: string): string {
  return escapeHtml(text.toWellFormed().replace(/[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, ' '));
}

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
