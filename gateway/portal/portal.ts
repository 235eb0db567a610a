// Serves the documentation for client developers: contracts, reference, guides and a page for every error code. Each resource is
// created on first use and kept until the configuration changes.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../error-catalogue.ts';
import { answerWith } from './answer.ts';
import { ASSETS } from './assets.ts';
import { errorCodes, errorPage, errorsPage, unknownCodePage } from './error-pages.ts';
import { GUIDES, guidePage, guidesPage } from './guides.ts';
import { landingPage } from './landing.ts';
import { layOut, type Page } from './layout.ts';
import { notFoundPage } from './not-found.ts';
import { type Reference, referencePage, referencesPage } from './reference.ts';
import { type PortalResource, toResource } from './resource.ts';
import { toYaml } from './yaml.ts';

/** A published contract and its document. */
export interface Published extends Reference {
  /** The document as JSON. */
  json(): Promise<Buffer>;
}

export interface PortalOptions {
  /** The URL that clients use, without a final slash. */
  readonly publicUrl: string;
  contracts(): readonly Published[];
}

export interface Portal {
  /** Returns whether the portal answers a request target, even if only with 404. */
  owns(target: string): boolean;
  /** Answers GET and HEAD. Returns false, without writing, if the path is unknown. Rejects if a file cannot be read. */
  answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
}

type Make = () => Promise<PortalResource>;

export function createPortal({ publicUrl, contracts }: PortalOptions): Portal {
  let known: ReadonlyMap<string, Make> | undefined;

  async function answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    known ??= everything(contracts(), publicUrl);
    const resource = await known.get(path)?.();
    // A client that was too slow may have been refused in the meantime.
    if (response.headersSent) return true;
    if (resource) answerWith(resource, request, response);
    else if (known.has(path.replace(/\/$/, ''))) moveTo(path.replace(/\/$/, ''), response);
    else if (acceptsHtml(request)) answerWith(await missing(path), request, response);
    else return false;
    return true;
  }

  return { owns: (target) => /^\/(docs|openapi)(?=$|[/?])/.test(target), answer };
}

/** Maps every path to the function that creates its resource. */
function everything(contracts: readonly Published[], publicUrl: string): ReadonlyMap<string, Make> {
  const made = new Map<string, Make>();
  const add = (path: string, make: Make) => made.set(path, once(make));
  const addPage = (path: string, page: () => Page | Promise<Page>) => add(path, async () => toPage(await page()));
  addPage('/docs', () => landingPage(contracts, publicUrl));
  addPage('/docs/reference', () => referencesPage(contracts));
  addPage('/docs/guides', () => guidesPage());
  addPage('/docs/errors', () => errorsPage());
  for (const guide of GUIDES) addPage(`/docs/guides/${guide.name}`, () => guidePage(guide, publicUrl));
  for (const code of errorCodes) addPage(`/docs/errors/${code}`, () => errorPage(code as ErrorCode, publicUrl));
  for (const [path, make] of ASSETS) add(path, make);
  for (const contract of contracts) {
    addPage(`/docs/reference/${contract.name}`, () => referencePage(contract, publicUrl));
    const json = once(contract.json);
    add(`/openapi/${contract.name}.json`, async () => toResource('document', 'application/json', await json()));
    add(`/openapi/${contract.name}.yaml`, async () =>
      toResource('document', 'application/yaml', await toYaml(await json())),
    );
  }
  return made;
}

function toPage(page: Page, status = 200): Promise<PortalResource> {
  return toResource('page', 'text/html; charset=utf-8', layOut(page), status);
}

function missing(path: string): Promise<PortalResource> {
  const [, code] = /^\/docs\/errors\/([a-z0-9_]{1,64})$/.exec(path) ?? [];
  return toPage(code === undefined ? notFoundPage() : unknownCodePage(code), 404);
}

/** Redirects a path with a final slash. */
function moveTo(location: string, response: ServerResponse): void {
  response.writeHead(308, { Location: location, 'Cache-Control': 'public, max-age=60', 'Content-Length': 0 });
  response.end();
}

/** Browsers get a page; other clients get the error object. */
function acceptsHtml({ headers }: IncomingMessage): boolean {
  return /(^|,)\s*text\/html\s*(;|,|$)/i.test(headers.accept ?? '');
}

/** Creates the value once, also for concurrent calls. A failure is not kept, so the next call tries again. */
function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return function get() {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
