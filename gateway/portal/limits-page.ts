// Makes the page "Limits", with the tiers and their limits, other limits with their operations, and the maximum sizes of requests. The page
// is made from limits.yaml and gateway.yaml, and shows the rules in force.

import type { Page } from './layout.ts';
import { type Link, type Row, type Table, tableHtml, tableMarkdown } from './limits-table.ts';
import { renderLine } from './markdown.ts';
import type { AddressedContract } from './reference/addresses.ts';

/** The limits in force, as far as clients may know them. */
export interface PublicLimits {
  readonly countPer: 'organization' | 'key';
  /** The tiers that the configuration shows, in its order. */
  readonly tiers: readonly PublicTier[];
  /** The limit of each client address, on operations without credentials; undefined if there is no such limit. */
  readonly anonymous: PublicRule | undefined;
  readonly extra: readonly ExtraLimit[];
  /** Operations whose requests count more than once. */
  readonly costs: readonly { readonly operationId: string; readonly cost: number }[];
  /** Operations whose body the gateway passes on as it arrives. Their service decides how long the body may be. */
  readonly streamedOperationIds: readonly string[];
  readonly sizes: { readonly bodyBytesMax: number; readonly urlBytesMax: number; readonly headerBytesMax: number };
}

interface PublicRule {
  readonly requests: number;
  readonly windowSeconds: number;
}

interface PublicTier extends PublicRule {
  readonly name: string;
  /** Streams and WebSockets that may be open at once. */
  readonly openStreams: number;
}

interface ExtraLimit extends PublicRule {
  readonly name: string;
  readonly per: 'organization' | 'key';
  readonly operationIds: readonly string[];
}

const PATH = '/docs/limits';

export function limitsPage(limits: PublicLimits, references: readonly AddressedContract[], hasGuide: boolean): Page {
  const parts = partsOf(limits, references);
  const guide = hasGuide ? ' The [guide to rate limits](/docs/guides/rate-limits) shows how to stay below.' : '';
  const lead = `${perText(limits.countPer)} A window slides: each request is free again when the window has passed since it was sent.`;
  const main = `<article class="limits"><h1>Limits</h1>
<p class="lead">${lead}</p>
<p class="own-tier note" hidden>Your key is of the marked tier: <strong class="own-limit number"></strong>.</p>
${parts.map(({ title, text, table }) => `${title === '' ? '' : `<h2>${title}</h2>`}\n${text === '' ? '' : `<p>${renderLine(text)}</p>`}\n${tableHtml(table)}`).join('\n')}
${hasGuide ? '<p>The <a href="/docs/guides/rate-limits">guide to rate limits</a> shows how to stay below.</p>' : ''}
</article>`;
  const sections = parts.map(({ title, text, table }) =>
    [title === '' ? '' : `## ${title}`, text, tableMarkdown(table)].filter(Boolean).join('\n\n'),
  );
  return {
    path: PATH,
    title: 'Limits',
    description: 'What each tier admits, and the largest sizes of requests.',
    section: PATH,
    main,
    markdown: `${['# Limits', lead, ...sections].join('\n\n')}\n${guide === '' ? '' : `\n${guide.trim()}\n`}`,
  };
}

interface Part {
  readonly title: string;
  /** Markdown. */
  readonly text: string;
  readonly table: Table;
}

/** The tier of callers with the administrator's password. It is not shown if no operation for clients accepts this password. */
const ADMINISTRATOR = 'mail-administrator';

function takesBasic(references: readonly AddressedContract[]): boolean {
  const own = references.flatMap(({ operations }) => operations.filter(({ isForOperators }) => !isForOperators));
  return own.some(({ operation }) => operation.security.some(({ scheme }) => scheme === 'basic'));
}

function partsOf(limits: PublicLimits, references: readonly AddressedContract[]): Part[] {
  const { anonymous, extra, costs } = limits;
  const tiers = limits.tiers.filter(({ name }) => name !== ADMINISTRATOR || takesBasic(references));
  const linksOf = createLinks(references);
  const hasStreams = new Set(tiers.map(({ openStreams }) => openStreams)).size > 0;
  const parts: Part[] = [];
  if (tiers.length > 0 || anonymous)
    parts.push({
      title: '',
      text: '',
      table: {
        label: 'Tiers',
        head: ['Tier', 'Requests', 'In any', ...(hasStreams ? ['Open streams'] : [])],
        rows: [
          ...tiers.map(({ name, requests, windowSeconds, openStreams }) => ({
            cells: [name, count(requests), span(windowSeconds), ...(hasStreams ? [count(openStreams)] : [])],
            limit: `${requests}/${windowSeconds}`,
          })),
          ...(anonymous
            ? [
                {
                  cells: [
                    'without a key',
                    count(anonymous.requests),
                    span(anonymous.windowSeconds),
                    ...(hasStreams ? ['–'] : []),
                  ],
                },
              ]
            : []),
        ],
      },
    });
  const shown = extra.filter(({ operationIds }) => linksOf(operationIds).length > 0);
  if (shown.length > 0)
    parts.push({
      title: 'Further limits',
      text: 'These operations have a second limit. It follows the first one in `RateLimit-Policy`.',
      table: {
        label: 'Further limits',
        head: ['Limit', 'Requests', 'In any', 'Counted for', 'Operations'],
        rows: shown.map(({ name, requests, windowSeconds, per, operationIds }) => ({
          cells: [name, count(requests), span(windowSeconds), `each ${per}`, linksOf(operationIds)],
        })),
      },
    });
  const dear = costs.flatMap(({ operationId, cost }) => {
    const links = linksOf([operationId]);
    return links.length === 0 ? [] : [{ cells: [links, count(cost)] }];
  });
  if (dear.length > 0)
    parts.push({
      title: 'Requests that count more than once',
      text: '',
      table: { label: 'Costs', head: ['Operation', 'Counts as'], rows: dear },
    });
  parts.push(sizesPart(limits, linksOf(limits.streamedOperationIds)));
  return parts;
}

/** Returns the part about sizes. A body that the gateway passes on as it arrives may be longer than a body that it buffers. */
function sizesPart({ sizes }: PublicLimits, streamed: readonly Link[]): Part {
  const rows: [string, string, Row['cells'][number]][] = [
    ...(streamed.length > 0 ? [['body', 'what the operation says', streamed] satisfies (typeof rows)[number]] : []),
    ['body', bytes(sizes.bodyBytesMax), streamed.length > 0 ? 'all others' : 'all'],
    ['path and query', bytes(sizes.urlBytesMax), 'all'],
    ['headers together', bytes(sizes.headerBytesMax), 'all'],
  ];
  return {
    title: 'Sizes',
    text: 'A longer request is refused.',
    table: {
      label: 'Sizes',
      head: ['Part of a request', 'At most', 'Operations'],
      rows: rows.map((cells) => ({ cells })),
    },
  };
}

/** Creates a function that links operations by their ids, if a page has them. */
function createLinks(references: readonly AddressedContract[]) {
  const all = new Map(
    references.flatMap(({ operations }) =>
      operations.map(({ operation, title, path }) => [operation.id, { text: title, href: path }] as const),
    ),
  );
  return (ids: readonly string[]): Link[] => ids.flatMap((id) => all.get(id) ?? []);
}

function perText(countPer: PublicLimits['countPer']): string {
  return countPer === 'key'
    ? 'Each key may send the requests of its organization’s tier.'
    : 'All keys of an organization count together, within the limit of its tier.';
}

function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** Returns a text for after "in any", such as `minute`, `2 hours` or `90 seconds`. */
export function span(seconds: number): string {
  const [size, unit] = UNITS.find(([one]) => seconds % one === 0) ?? [1, 'second'];
  const times = seconds / size;
  return times === 1 ? unit : `${times} ${unit}s`;
}

function bytes(value: number): string {
  if (value % 1_048_576 === 0) return `${value / 1_048_576} MiB`;
  return value % 1024 === 0 ? `${value / 1024} KiB` : `${count(value)} bytes`;
}
