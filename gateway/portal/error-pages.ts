// Makes the pages of the error catalogue: one per code, the target of `doc_url`, and one that lists all codes.

import { fileURLToPath } from 'node:url';
import { ALL_CAPABILITIES } from '../catalogue/capabilities.ts';
import type { CatalogueEntry } from '../catalogue/catalogue-entry.ts';
import { type ErrorCode, REFUSALS } from '../catalogue/errors.ts';
import { VIOLATION_CODES } from '../shared/contracts/violation-codes.ts';
import { createFileDates } from './file-dates.ts';
import type { GuideFacts } from './guide-facts.ts';
import { withKnownGuides } from './guides.ts';
import { escapeHtml } from './html.ts';
import type { Page } from './layout.ts';
import { codeBlock, plain, renderLine } from './markdown.ts';
import { fence } from './reference/operation-markdown.ts';
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
  const dated = async (page: Page) => ({ ...page, updatedMs: await updated(CATALOGUE) });
  site.addPage('/docs/errors', () => dated(errorsPage(codes, guides)));
  for (const code of Object.keys(REFUSALS) as ErrorCode[]) {
    const options = { publicUrl, guides, facts, isListed: codes.includes(code) };
    site.addPage(`/docs/errors/${code}`, () => dated(errorPage(code, options)));
  }
}

/** The meaning of each `retryable` value, as an answer to "Retry?". */
const RETRY_ADVICE = {
  true: 'Yes. <code>retryable</code> is <code>true</code>: the identical request may be retried, after <code>retry_after</code> seconds if the error has that field; the header <code>Retry-After</code> says the same.',
  false: 'No. <code>retryable</code> is <code>false</code>: do not retry the identical request. First do the above.',
  if_safe:
    'If it is safe. <code>retryable</code> is <code>true</code> for <code>GET</code>, <code>HEAD</code>, <code>QUERY</code>, <code>PUT</code>, <code>DELETE</code>, <code>OPTIONS</code> and <code>TRACE</code>, and for requests with an <code>Idempotency-Key</code> that may be retried. Others may have been processed.',
} as const;

const RETRY_WORDS = { true: 'yes', false: 'no', if_safe: 'if safe' } as const;

interface ErrorPageOptions {
  readonly publicUrl: string;
  /** The names of the existing guides. No link leads to another guide. */
  readonly guides: ReadonlySet<string>;
  readonly facts: GuideFacts;
  /** Whether the code can occur under the configuration. */
  readonly isListed: boolean;
}

export function errorPage(code: ErrorCode, { publicUrl, guides, facts, isListed }: ErrorPageOptions): Page {
  const refusal: CatalogueEntry = REFUSALS[code];
  const linkKnownGuides = (markdown: string) => withKnownGuides(markdown, guides);
  const [meaning, remedy] = [linkKnownGuides(refusal.meaning), linkKnownGuides(refusal.remedy)];
  const example = JSON.stringify(exampleOf(code, refusal, publicUrl, facts), null, 2);
  const advice = linkKnownGuides(ADVICE);
  const main = `<article>
<p class="crumbs"><a href="/docs/errors">Errors</a></p>
<h1><code>${code}</code></h1>
<p class="lead">${renderLine(meaning)}</p>
${isListed ? '' : `<p class="warning">${NOT_LISTED}</p>\n`}<dl class="facts">
<div><dt>Status</dt><dd>${refusal.status}</dd></div>
<div><dt>Type</dt><dd><code>${refusal.type}</code></dd></div>
<div><dt>Retry</dt><dd>${RETRY_WORDS[`${refusal.retryable}`]}</dd></div>
</dl>
<h2>What to do</h2>
<p>${renderLine(remedy)}</p>
<h2>Retry?</h2>
<p>${RETRY_ADVICE[`${refusal.retryable}`]}</p>
<h2>What it looks like</h2>
${codeBlock(example, 'json', 'Example')}
${code === 'validation_failed' ? violationsHtml() : ''}<p>${renderLine(advice)}</p>
</article>`;
  const markdown = [
    `# \`${code}\``,
    meaning,
    ...(isListed ? [] : [NOT_LISTED]),
    `Status ${refusal.status}, type \`${refusal.type}\`.`,
    `## What to do\n\n${remedy}`,
    `## Retry?\n\n${RETRY_ADVICE[`${refusal.retryable}`].replace(/<\/?code>/g, '`')}`,
    `## What it looks like\n\n${fence('json', example)}`,
    ...(code === 'validation_failed' ? [violationsMarkdown()] : []),
    advice,
  ];
  return {
    path: `/docs/errors/${code}`,
    title: code,
    description: plain(meaning),
    section: '/docs/errors',
    main,
    markdown: `${markdown.join('\n\n')}\n`,
  };
}

/** Returns the section about the entries of `errors`. Each code has an anchor, so that it can be linked to. */
function violationsHtml(): string {
  const rows = Object.entries(VIOLATION_CODES).map(
    ([code, meaning]) =>
      `<tr id="${code}"><th scope="row"><code>${code}</code></th><td>${renderLine(meaning)}</td></tr>`,
  );
  return `<h2 id="errors">Codes of <code>errors</code></h2>
<div class="table" role="group" aria-label="Codes of errors" tabindex="0"><table><thead><tr><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>
`;
}

function violationsMarkdown(): string {
  const list = Object.entries(VIOLATION_CODES).map(([code, meaning]) => `- \`${code}\`: ${meaning}`);
  return `## Codes of \`errors\`\n\n${list.join('\n')}`;
}

const NOT_LISTED = 'This API does not refuse requests with this code at present: nothing in it needs the code.';

const ADVICE =
  'Decide by `code`, never by `message`, which may be reworded. See the [guide to errors](/docs/guides/errors).';

/** Returns an example of the error object, with its members in the order in which they are sent. */
function exampleOf(code: ErrorCode, entry: CatalogueEntry, publicUrl: string, facts: GuideFacts) {
  const { type, message, status, retryable } = entry;
  const retryAfter = retryAfterOf(entry);
  return {
    error: {
      type,
      code,
      message,
      status,
      ...membersOfCode(code, facts),
      retryable: retryable !== false,
      ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
      request_id: 'req_01K9Z6M3V8Q4T2R7X5BPAF8K60',
      doc_url: `${publicUrl}/docs/errors/${code}`,
    },
  };
}

/** Returns the wait of the example. If the wait depends on the case, the remedy says so and the number is only an example. */
function retryAfterOf({ retryAfterSeconds, remedy }: CatalogueEntry): number | undefined {
  return retryAfterSeconds ?? (remedy.includes('`retry_after`') ? 24 : undefined);
}

function errorsPage(codes: readonly ErrorCode[], guides: ReadonlySet<string>): Page {
  const byType = Map.groupBy(codes, (code) => REFUSALS[code].type);
  const sections = [...byType].map(([type, members]) => {
    const rows = members.map((code) => {
      const { status, meaning, message, retryable }: CatalogueEntry = REFUSALS[code];
      // The filter also finds the message, and whether a request may be retried.
      const words = `${plain(message)}${retryable === false ? '' : ' retry retryable'}`;
      const link = `<a href="/docs/errors/${code}"><code>${code}</code></a>`;
      return `<tr data-words="${escapeHtml(words)}"><th scope="row">${link}</th><td class="status s${Math.floor(status / 100)}">${status}</td><td>${renderLine(withKnownGuides(meaning, guides))}</td><td>${RETRY_WORDS[`${retryable}`]}</td></tr>`;
    });
    const head = ['Code', 'Status', 'Meaning', 'Retry'].map((text) => `<th scope="col">${text}</th>`).join('');
    return `<section data-filtered><h2 id="${type}"><code>${type}</code></h2>
<div class="table errors" role="group" aria-label="Codes of type ${type}" tabindex="0"><table><thead><tr>${head}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></section>`;
  });
  const main = `<h1>Errors</h1>
<p class="lead">${renderLine(withKnownGuides(LEAD, guides))}</p>
<p>“Retry” says whether the identical request may be sent again. “If safe” means: if a repetition cannot execute anything twice.</p>
<p class="filter needs-script"><label for="filter" class="quiet">Filter the codes</label><input id="filter" type="search" placeholder="Filter: a code, a status, a word" autocomplete="off" spellcheck="false" aria-describedby="filter-count">
<span id="filter-count" role="status"></span></p>
<p id="filter-none" class="empty" hidden>No code has “<span class="typed"></span>” in its name, status or meaning. <button type="button">Clear filter</button></p>
${sections.join('\n')}`;
  const list = codes.map((code) => {
    const { status, meaning } = REFUSALS[code];
    return `- [\`${code}\`](/docs/errors/${code}.md) (${status}): ${withKnownGuides(meaning, guides)}`;
  });
  return {
    path: '/docs/errors',
    title: 'Errors',
    description: 'Every code that the gateway refuses requests with.',
    section: '/docs/errors',
    main,
    scripts: ['filter.js'],
    markdown: `# Errors\n\n${withKnownGuides(LEAD, guides)}\n\n${list.join('\n')}\n`,
  };
}

const LEAD = 'Every error of the gateway is [one JSON object](/docs/guides/errors) with one of these codes.';

/** Returns the members of the error object with this code. Scopes and versions come from the served contracts. */
function membersOfCode(code: ErrorCode, facts: GuideFacts): Readonly<Record<string, unknown>> {
  const scope = facts.get('writeScope') ?? facts.get('readScope');
  if (code === 'insufficient_scope') return { required_scopes: [scope ?? 'orders:write'] };
  if (code === 'version_unknown') return { supported_versions: JSON.parse(`[${facts.get('versions') ?? '"v1"'}]`) };
  if (code === 'rate_limited') return { violated_policies: [facts.get('countPer') ?? 'organization'] };
  const { example = {} }: CatalogueEntry = REFUSALS[code];
  return example;
}
