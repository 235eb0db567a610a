// The page "Limits": the tiers with what each admits, other limits with their operations, and the sizes that hold for all requests. It is
// made from limits.yaml and gateway.yaml, so it says what is in force.

import { escapeHtml } from './html.ts';
import type { Page } from './layout.ts';
import type { AddressedContract } from './reference/addresses.ts';

/** The limits in force, as far as clients may know them. */
export interface PublicLimits {
  readonly countPer: 'organization' | 'key';
  /** Those that the configuration shows, in its order. */
  readonly tiers: readonly PublicTier[];
  /** The limit of each client address, on operations without credentials; undefined if there is none. */
  readonly anonymous: PublicRule | undefined;
  readonly extra: readonly ExtraLimit[];
  /** Operations whose requests count more than once. */
  readonly costs: readonly { readonly operationId: string; readonly cost: number }[];
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
${parts.map(({ title, text, table }) => `${title === '' ? '' : `<h2>${title}</h2>`}\n${text === '' ? '' : `<p>${text}</p>`}\n${tableHtml(table)}`).join('\n')}
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
  readonly text: string;
  readonly table: Table;
}

interface Table {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly Row[];
}

interface Row {
  readonly cells: readonly Cell[];
  /** `requests/seconds`: what the headers of an answer say of the reader's own tier. */
  readonly limit?: string;
}

type Cell = string | { readonly text: string; readonly href: string };

function partsOf(limits: PublicLimits, references: readonly AddressedContract[]): Part[] {
  const { tiers, anonymous, extra, costs, sizes } = limits;
  const linkOf = createLinks(references);
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
  const shown = extra.filter(({ operationIds }) => operationIds.some((id) => linkOf(id) !== undefined));
  if (shown.length > 0)
    parts.push({
      title: 'Further limits',
      text: 'These operations have a second limit. It follows the first one in <code>RateLimit-Policy</code>.',
      table: {
        label: 'Further limits',
        head: ['Limit', 'Requests', 'In any', 'Counted for', 'Operations'],
        rows: shown.map(({ name, requests, windowSeconds, per, operationIds }) => ({
          cells: [name, count(requests), span(windowSeconds), `each ${per}`, operationsText(operationIds, linkOf)],
        })),
      },
    });
  const dear = costs.flatMap(({ operationId, cost }) => {
    const link = linkOf(operationId);
    return link === undefined ? [] : [{ cells: [link, count(cost)] }];
  });
  if (dear.length > 0)
    parts.push({
      title: 'Requests that count more than once',
      text: '',
      table: { label: 'Costs', head: ['Operation', 'Counts as'], rows: dear },
    });
  parts.push({
    title: 'Sizes',
    text: 'For every request. A longer one is refused.',
    table: {
      label: 'Sizes',
      head: ['Part of a request', 'At most'],
      rows: [
        { cells: ['body', bytes(sizes.bodyBytesMax)] },
        { cells: ['path and query', bytes(sizes.urlBytesMax)] },
        { cells: ['headers together', bytes(sizes.headerBytesMax)] },
      ],
    },
  });
  return parts;
}

/** Operations by their ids; undefined if no page has it. */
function createLinks(references: readonly AddressedContract[]) {
  const all = new Map(
    references.flatMap(({ operations }) =>
      operations.map(({ operation, title, path }) => [operation.id, { text: title, href: path }] as const),
    ),
  );
  return (id: string) => all.get(id);
}

const NAMED_MAX = 3;

function operationsText(ids: readonly string[], linkOf: ReturnType<typeof createLinks>): Cell {
  const known = ids.flatMap((id) => linkOf(id) ?? []);
  const [first] = known;
  if (known.length === 1 && first !== undefined) return first;
  const names = known.slice(0, NAMED_MAX).map(({ text }) => text);
  return known.length > NAMED_MAX ? `${names.join(', ')} and ${known.length - NAMED_MAX} more` : names.join(', ');
}

function tableHtml({ label, head, rows }: Table): string {
  const cell = (value: Cell) =>
    typeof value === 'string' ? escapeHtml(value) : `<a href="${value.href}">${escapeHtml(value.text)}</a>`;
  const body = rows.map(({ cells: [first = '', ...rest], limit }) => {
    const attributes = limit === undefined ? '' : ` data-limit="${limit}"`;
    return `<tr${attributes}><th scope="row">${cell(first)}</th>${rest.map((one, index) => `<td data-head="${head[index + 1]}">${cell(one)}</td>`).join('')}</tr>`;
  });
  return `<div class="table" role="group" aria-label="${label}" tabindex="0"><table><thead><tr>${head.map((text) => `<th scope="col">${text}</th>`).join('')}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>`;
}

function tableMarkdown({ head, rows }: Table): string {
  const cell = (value: Cell) => (typeof value === 'string' ? value : `[${value.text}](${value.href}.md)`);
  const lines = [head, head.map(() => '---'), ...rows.map(({ cells }) => cells.map(cell))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
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

/** `minute`, `2 hours`, `90 seconds`: after "in any". */
export function span(seconds: number): string {
  const [size, unit] = UNITS.find(([one]) => seconds % one === 0) ?? [1, 'second'];
  const times = seconds / size;
  return times === 1 ? unit : `${times} ${unit}s`;
}

function bytes(value: number): string {
  if (value % 1_048_576 === 0) return `${value / 1_048_576} MiB`;
  return value % 1024 === 0 ? `${value / 1024} KiB` : `${count(value)} bytes`;
}
