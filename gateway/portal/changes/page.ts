// Makes the page "Changes", with the changes of publications for clients, newest first. The commands that publish a contract write the
// record, so that an entry contains the result of a comparison, and not the memory of an author.

import { escapeHtml } from '../html.ts';
import { type Page, shownDay } from '../layout.ts';
import type { AddressedContract } from '../reference/addresses.ts';
import { CHANGES_PATH, type ChangesEntry, firstText, linesOf } from './entries.ts';
import { feedPath } from './feed.ts';
import { isAllForOperators, isForOperators, rowHtml } from './row-html.ts';
import { changeRows } from './rows.ts';

const SHOWN_MAX = 60;
/** The number of items of one publication that are shown. The others unfold. */
const ITEMS_MAX = 12;

/** Returns the page; undefined if nothing is recorded of the served contracts. */
export function changesPage(entries: readonly ChangesEntry[]): Page | undefined {
  if (entries.length === 0) return undefined;
  const shown = entries.slice(0, SHOWN_MAX);
  const contracts = [...new Set(shown.map(({ contract }) => contract))];
  const days = Map.groupBy(shown, ({ publication: { day } }) => day);
  const main = `<article class="changes"><h1>Changes</h1>
<p class="lead">What changed for clients from one publication of the contracts to the next.</p>
${filterHtml(contracts)}
${[...days].map(([day, own]) => dayHtml(day, own, contracts.length > 1)).join('\n')}
<p id="change-none" class="no-change" hidden>No change fits. <button type="button">Show all</button></p>
</article>`;
  const sections = shown.filter((entry) => !isAllForOperators(entry)).map(sectionOf);
  return {
    path: CHANGES_PATH,
    title: 'Changes',
    description: 'What changed for clients, from one publication of the contracts to the next.',
    section: CHANGES_PATH,
    main,
    markdown: `# Changes\n\n${sections.join('\n\n')}\n`,
    styles: ['reference.css'],
    scripts: ['changes.js'],
    feed: feedPath(),
  };
}

/** Returns an entry in Markdown, without changes for operators. */
function sectionOf(entry: ChangesEntry): string {
  const { day, contract } = entry;
  const lines = linesOf(entry, (row) => !isForOperators(row, contract.operations));
  return `## ${shownDay(day)}: ${contract.reference.title}\n\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

/** Returns the filter. Its boxes work without the script, by the style sheet alone; the other choices need the script. */
function filterHtml(contracts: readonly AddressedContract[]): string {
  const options = contracts.map(
    ({ reference: { name, title } }) => `<option value="${escapeHtml(name)}">${escapeHtml(title)}</option>`,
  );
  const feeds = contracts.map(
    ({ reference: { name, title } }) => `<a href="${feedPath(name)}">${escapeHtml(title)}</a>`,
  );
  const hasOperators = contracts.some(({ operations, clientOperations }) => clientOperations < operations.length);
  const choice =
    contracts.length > 1
      ? `<label class="needs-script">API <select id="change-api"><option value="">All</option>${options.join('')}</select></label>`
      : '';
  return `<form class="change-filter" id="change-filter" autocomplete="off">
${choice}
<label class="needs-script">Since <input type="date" id="change-since"></label>
<label class="needs-script">About <input type="search" id="change-about" placeholder="field or operation" spellcheck="false"></label>
<label class="only-breaking"><input type="checkbox" id="change-breaking"> Breaking changes only</label>
${hasOperators ? '<label class="with-operators"><input type="checkbox" id="change-operators"> Also for operators</label>' : ''}
<output id="change-count" class="quiet-text"></output>
</form>
<p class="quiet-text change-feeds">Feed: <a href="${feedPath()}">all changes</a>${contracts.length > 1 ? `, ${feeds.join(', ')}` : ''}</p>`;
}

/** Returns the publications of one day, by contract. */
function dayHtml(day: string, entries: readonly ChangesEntry[], isNamed: boolean): string {
  const parts = [...Map.groupBy(entries, ({ contract }) => contract)].map(([{ reference, path }, own]) => {
    const heading = isNamed ? `<h3><a href="${path}">${escapeHtml(reference.title)}</a></h3>\n` : '';
    return `<div class="${classOf(own, 'change-of')}" data-api="${escapeHtml(reference.name)}">${heading}${own.map(entryHtml).join('\n')}</div>`;
  });
  const [first] = entries;
  return `<div class="${classOf(entries, 'change-of')}" data-day="${day}"><h2>${first === undefined ? day : shownDay(first.day)}</h2>\n${parts.join('\n')}</div>`;
}

/** Returns the class of an entry. An entry without a change for clients is hidden together with its heading. */
function classOf(entries: readonly ChangesEntry[], name: string): string {
  return entries.every(isAllForOperators) ? `${name} of-operators` : name;
}

function entryHtml(entry: ChangesEntry): string {
  const { note } = entry.publication;
  const noted = note === undefined ? '' : `<p>${escapeHtml(note)}</p>`;
  return `<section class="${classOf([entry], 'change')}" id="${entry.id}">${noted}${itemsHtml(entry)}</section>`;
}

function itemsHtml(entry: ChangesEntry): string {
  const { publication, contract } = entry;
  const { changes } = publication;
  if (changes.length === 0) return `<p class="change-item">${firstText(entry)}</p>`;
  const items = changeRows(changes).map((row) => rowHtml(row, contract));
  const list = (some: readonly string[]) => `<ul class="change-list">${some.join('\n')}</ul>`;
  const more = items.slice(ITEMS_MAX);
  const rest =
    more.length === 0 ? '' : `<details class="nested"><summary>${more.length} more</summary>${list(more)}</details>`;
  return list(items.slice(0, ITEMS_MAX)) + rest;
}
