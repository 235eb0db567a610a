// The page "Changes" and its feed: what publications of the contracts changed for clients, the newest first. The commands that publish a
// contract write the record, so an entry says what was compared, not what an author remembered.

import type { Publication } from '../shared/publication.ts';
import { type ChangeRow, changeRows } from './change-rows.ts';
import { escapeHtml } from './html.ts';
import { type Page, shownDay } from './layout.ts';
import type { AddressedContract, OperationAddress } from './reference/addresses.ts';

const PATH = '/docs/changes';
export const FEED_PATH = `${PATH}.atom`;

const SHOWN_MAX = 60;
const FEED_MAX = 30;
/** Items of one publication that are shown; the others unfold. */
const ITEMS_MAX = 12;
const OPERATIONS_MAX = 3;

/** A publication of a contract that is served. */
interface Entry {
  readonly id: string;
  readonly day: Date;
  readonly contract: AddressedContract;
  readonly publication: Publication;
}

/** Returns the page; undefined if nothing is recorded of the served contracts. */
export function changesPage(
  publications: readonly Publication[],
  references: readonly AddressedContract[],
): Page | undefined {
  const entries = entriesOf(publications, references);
  if (entries.length === 0) return undefined;
  const shown = entries.slice(0, SHOWN_MAX);
  const days = Map.groupBy(shown, ({ day }) => shownDay(day));
  const several = references.length > 1;
  const main = `<article class="changes"><h1>Changes</h1>
<p class="lead">What changed for clients, as comparisons of the published contracts found it. <a href="${FEED_PATH}">Follow the feed</a>.</p>
${shown.some(hasBreaking) ? FILTER : ''}
${[...days].map(([day, own]) => `<div class="change-of"><h2>${day}</h2>\n${dayHtml(own, several)}</div>`).join('\n')}
</article>`;
  const sections = shown.map(
    ({ day, contract, publication }) =>
      `## ${shownDay(day)}: ${contract.reference.title}\n\n${linesOf(publication)
        .map((line) => `- ${line}`)
        .join('\n')}`,
  );
  return {
    path: PATH,
    title: 'Changes',
    description: 'What changed for clients, from one publication of the contracts to the next.',
    section: PATH,
    main,
    markdown: `# Changes\n\n${sections.join('\n\n')}\n`,
    styles: ['reference.css'],
    feed: FEED_PATH,
  };
}

/** The style sheet hides the others while the box is checked: the filter needs no script. */
const FILTER =
  '<p class="only-breaking"><label><input type="checkbox" autocomplete="off"> Breaking changes only</label></p>';

function hasBreaking({ publication }: Entry): boolean {
  return changeRows(publication.changes).some(({ mark }) => mark === 'breaking');
}

function entriesOf(publications: readonly Publication[], references: readonly AddressedContract[]): Entry[] {
  const counts = new Map<string, number>();
  return publications
    .flatMap((publication) => {
      const { day, contract: name } = publication;
      const contract = references.find(({ reference }) => reference.name === name);
      const key = `${day}-${name}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      const id = count === 1 ? key : `${key}-${count}`;
      return contract === undefined ? [] : [{ id, day: new Date(`${day}T00:00:00Z`), contract, publication }];
    })
    .reverse();
}

/** The publications of one day, by contract. */
function dayHtml(entries: readonly Entry[], isNamed: boolean): string {
  return [...Map.groupBy(entries, ({ contract }) => contract)]
    .map(([{ reference, path }, own]) => {
      const heading = isNamed ? `<h3><a href="${path}">${escapeHtml(reference.title)}</a></h3>\n` : '';
      return `<div class="change-of">${heading}${own.map(entryHtml).join('\n')}</div>`;
    })
    .join('\n');
}

function entryHtml({ id, contract, publication }: Entry): string {
  return `<section class="change" id="${id}">${itemsHtml(publication, contract.operations)}</section>`;
}

function itemsHtml(publication: Publication, operations: readonly OperationAddress[]): string {
  const { changes } = publication;
  if (changes.length === 0) return `<p>${firstText(publication)}</p>`;
  const items = changeRows(changes).map((row) => {
    const what = row.name === undefined ? '' : `<code>${escapeHtml(row.name)}</code> `;
    const { first, whole } = operationsHtml(row, operations);
    return `<li><span class="mark-of ${row.mark}">${row.mark}</span> <div>${first}: ${what}${escapeHtml(row.rest)}${reasonHtml(row)}${detailsHtml(row)}${whole}</div></li>`;
  });
  const list = (some: readonly string[]) => `<ul class="change-list">${some.join('\n')}</ul>`;
  const more = items.slice(ITEMS_MAX);
  const rest =
    more.length === 0 ? '' : `<details class="nested"><summary>${more.length} more</summary>${list(more)}</details>`;
  return list(items.slice(0, ITEMS_MAX)) + rest;
}

function reasonHtml({ reasons }: ChangeRow): string {
  return reasons.length === 0 ? '' : ` <span class="quiet-text">Why: ${escapeHtml(reasons.join(' '))}</span>`;
}

function detailsHtml({ details }: ChangeRow): string {
  if (details.length === 0) return '';
  const codes = details.map((detail) => `<code>${escapeHtml(detail)}</code>`);
  return ` <details class="detail"><summary>pattern</summary>${codes.join('<br>')}</details>`;
}

/** The first operations of a row, and all of them to unfold at its end. */
function operationsHtml({ operations: changed }: ChangeRow, all: readonly OperationAddress[]) {
  const links = changed.map(({ id, at }) => {
    const found = all.find(({ operation }) => operation.id === id);
    return found === undefined
      ? `<code>${escapeHtml(at)}</code>`
      : `<a href="${found.path}">${escapeHtml(found.title)}</a>`;
  });
  const more = links.length - OPERATIONS_MAX;
  const first = links.slice(0, OPERATIONS_MAX).join(', ');
  if (more <= 0) return { first: `<span class="of">${first}</span>`, whole: '' };
  const summary = `<summary>all ${links.length} operations</summary>`;
  return {
    first: `<span class="of">${first} and ${more} more</span>`,
    whole: ` <details class="detail further">${summary}${links.join(', ')}</details>`,
  };
}

function firstText({ operations }: Publication): string {
  return `First publication, with ${operations} ${operations === 1 ? 'operation' : 'operations'}.`;
}

/** Lines of plain text. */
function linesOf(publication: Publication): string[] {
  if (publication.changes.length === 0) return [firstText(publication)];
  return changeRows(publication.changes).map(({ mark, name, rest, reasons, operations }) => {
    const named = operations.slice(0, OPERATIONS_MAX).map(({ at }) => at);
    const more = operations.length - named.length;
    return `${mark}: ${name === undefined ? '' : `${name} `}${rest} (${named.join(', ')}${more > 0 ? ` and ${more} more` : ''})${reasons.length === 0 ? '' : `. Why: ${reasons.join(' ')}`}`;
  });
}

/** The feed (RFC 4287), as XML. Ids and dates follow from the record alone, so that readers see each entry once. */
export function changesFeed(
  publications: readonly Publication[],
  references: readonly AddressedContract[],
  { title, publicUrl }: { readonly title: string; readonly publicUrl: string },
): string {
  const entries = entriesOf(publications, references).slice(0, FEED_MAX);
  const dateOf = ({ day }: Entry) => day.toISOString();
  const items = entries.map((entry) => {
    const address = `${publicUrl}${PATH}#${entry.id}`;
    const content = linesOf(entry.publication).join('\n');
    return `  <entry>
    <id>${escapeXml(address)}</id>
    <title>${escapeXml(`${entry.contract.reference.title}: ${summaryOf(entry.publication)}`)}</title>
    <link href="${escapeXml(address)}"/>
    <updated>${dateOf(entry)}</updated>
    <content type="text">${escapeXml(content)}</content>
  </entry>`;
  });
  const [newest] = entries;
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${escapeXml(`${publicUrl}${PATH}`)}</id>
  <title>${escapeXml(`Changes of ${title}`)}</title>
  <link href="${escapeXml(`${publicUrl}${FEED_PATH}`)}" rel="self"/>
  <link href="${escapeXml(`${publicUrl}${PATH}`)}"/>
  <author><name>${escapeXml(title)}</name></author>
  <updated>${newest === undefined ? '1970-01-01T00:00:00.000Z' : dateOf(newest)}</updated>
${items.join('\n')}
</feed>
`;
}

function summaryOf({ changes, operations }: Publication): string {
  if (changes.length === 0) return `published with ${operations} operations`;
  const rows = changeRows(changes);
  const breaking = rows.filter(({ mark }) => mark === 'breaking').length;
  const other = rows.length - breaking;
  const parts = [
    ...(breaking > 0 ? [`${breaking} breaking ${breaking === 1 ? 'change' : 'changes'}`] : []),
    ...(other > 0 ? [`${other} ${breaking > 0 ? 'further ' : ''}${other === 1 ? 'change' : 'changes'}`] : []),
  ];
  return parts.join(', ');
}

/** XML allows no controls but tab and line ends, in no form (section 2.2). */
function escapeXml(text: string): string {
  return escapeHtml(text.toWellFormed().replace(/[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, ' '));
}
