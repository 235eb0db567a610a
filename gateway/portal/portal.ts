// The documentation for client developers, with contracts, reference, guides and a page for every error code. Each resource is created on
// first use and kept until the configuration changes.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentVersionIn } from '../shared/http/content-version.ts';
import { addVary, answerWith } from './answer.ts';
import { ASSETS } from './assets.ts';
import { escapeHtml, shorten } from './html.ts';
import { layOut, type Page } from './layout.ts';
import { type PortalResource, toResource } from './resource.ts';
import { openSite, type PortalOptions, type PortalSite } from './site.ts';

interface Portal {
  /** Returns whether the portal answers a request target, even if only with 404. */
  owns(target: string): boolean;
  /** Answers GET and HEAD. Returns false, without writing, if the path is unknown. Rejects if a file cannot be read. */
  answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
}

export function createPortal(options: PortalOptions): Portal {
  let opening: Promise<PortalSite> | undefined;

  function open(): Promise<PortalSite> {
    opening ??= openSite(options).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  async function answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const site = await open();
    const versioned = contentVersionIn(path, ASSETS);
    const hasText = site.pages.has(`${path}.md`);
    const asked = hasText && prefersMarkdown(request) ? `${path}.md` : path;
    const resource = await site.pages.get(versioned?.path ?? asked);
    // If the page took too long, the client has already received a refusal.
    if (response.headersSent) return true;
    if (hasText) addVary(response, 'Accept');
    // An address with another version comes from a page of another instance or of an earlier configuration. The answer is the file of this
    // instance.
    if (resource) answerWith(resource, request, response, versioned?.version === site.version);
    else if (site.pages.has(path.replace(/\/$/, ''))) moveTo(path.replace(/\/$/, ''), response);
    else if (acceptsHtml(request)) answerWith(await missing(path, site), request, response);
    else return false;
    return true;
  }

  return { owns: (target) => /^\/(docs(\.md)?|openapi|llms\.txt)(?=$|[/?])/.test(target), answer };
}

function missing(path: string, { frame, pages, titles }: PortalSite): Promise<PortalResource> {
  const [, code] = /^\/docs\/errors\/([a-z0-9_]{1,64})$/.exec(path) ?? [];
  const page =
    code === undefined
      ? notFoundPage(path, nearestPages(path, pages.paths()), { ...frame, titles })
      : unknownCodePage(code);
  return toResource('page', 'text/html; charset=utf-8', layOut(page, frame), 404);
}

/** Redirects a path with a final slash. */
function moveTo(location: string, response: ServerResponse): void {
  response.writeHead(308, { Location: location, 'Cache-Control': 'public, max-age=60', 'Content-Length': 0 });
  response.end();
}

/** Whether the client prefers Markdown. Agents request Markdown at the address of a page; browsers do not. */
function prefersMarkdown({ headers: { accept = '' } }: IncomingMessage): boolean {
  const markdown = qualityOf('text/markdown', accept);
  return markdown > 0 && markdown >= qualityOf('text/html', accept);
}

/** Returns the quality of a type; 0 if the header does not name the type itself (RFC 9110 section 12.5.1). */
function qualityOf(type: string, accept: string): number {
  const ranges = accept.toLowerCase().split(',', 50);
  const named = ranges.map((one) => one.split(';')).find(([range = '']) => range.trim() === type);
  if (named === undefined) return 0;
  const [, quality = '1'] = /\bq=([\d.]+)/.exec(named.slice(1).join(';')) ?? [];
  return Number(quality) || 0;
}

/** Whether the client accepts a page. Other clients get the error object. */
function acceptsHtml({ headers }: IncomingMessage): boolean {
  return /(^|,)\s*text\/html\s*(;|,|$)/i.test(headers.accept ?? '');
}

/** Returns the page of an unknown path. If no similar page exists, it links to the sections. */
function notFoundPage(
  path: string,
  nearest: readonly string[],
  { sections, titles }: Pick<PortalSite, 'titles'> & Pick<PortalSite['frame'], 'sections'>,
): Page {
  const isFar = nearest.length === 1 && nearest[0] === '/docs';
  const links = (isFar ? sections.map(([section]) => section) : nearest).map(
    (one) =>
      `<li><a href="${escapeHtml(one)}"><span class="op-title">${escapeHtml(titles.get(one) ?? nameIn(one))}</span><span class="op-path"><code>${escapeHtml(one)}</code></span></a></li>`,
  );
  const main = `<h1>Page not found</h1>
<p class="lead">There is no page at <code>${escapeHtml(shorten(path, SHOWN_PATH_MAX))}</code>. Search for it above, or go on here:</p>
<ul class="ops">${links.join('')}</ul>`;
  return {
    path: '/docs',
    title: 'Page not found',
    description: 'There is no page at this path.',
    section: '',
    main,
    markdown: '',
    styles: ['reference.css'],
  };
}

/** Returns the page of a code that is not in the catalogue. */
function unknownCodePage(code: string): Page {
  const main = `<h1><code>${escapeHtml(code)}</code></h1>
<p class="lead">This code is not one of the <a href="/docs/errors">catalogue</a>.</p>
<p>A service behind the API may refuse a request by a code of its own. Its <code>message</code> says what is wrong; decide by
<code>type</code>, then by the status.</p>`;
  return {
    path: '/docs/errors',
    title: 'Unknown code',
    description: 'A code that is not of the catalogue.',
    section: '/docs/errors',
    main,
    markdown: '',
  };
}

const NEAREST_MAX = 5;
const SHOWN_PATH_MAX = 80;
const ALIKE_MIN = 4;

/** Returns suggestions for an address without a page: the pages next to it that begin in the same way, and the nearest page above it. */
function nearestPages(path: string, all: readonly string[]): string[] {
  const pages = new Set(all.filter((one) => /^\/docs(\/[^.]*)?$/.test(one) && !one.startsWith('/docs/assets')));
  const name = nameIn(path);
  const beside = [...pages]
    .map((page) => ({ page, alike: lengthAlike(nameIn(page).replace(/^webhook-/, ''), name.replace(/^webhook-/, '')) }))
    .filter(({ alike }) => alike >= ALIKE_MIN)
    .sort((one, other) => other.alike - one.alike)
    .map(({ page }) => page);
  let above = path;
  while (!pages.has(above) && above !== '') above = above.slice(0, above.lastIndexOf('/'));
  return [...new Set([...beside.slice(0, NEAREST_MAX - 1), above || '/docs'])];
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
}

/** Returns the length of the common beginning. */
function lengthAlike(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
