// Everything under /docs and /openapi, by path. Reading the guides and the addresses of operations comes first; pages are made when they
// are asked for.

import { stat } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ALL_CAPABILITIES } from '../capabilities.ts';
import type { ErrorCode } from '../error-catalogue.ts';
import { accountPage } from './account.ts';
import { assetsFor, type Look } from './assets.ts';
import { errorCodes, errorPage, errorsPage } from './error-pages.ts';
import { type GuideSettings, guideFacts, sampleOperationOf } from './guide-facts.ts';
import { type GuideSource, guidePage, guidesPage, loadGuides } from './guides.ts';
import { landingPage } from './landing.ts';
import { type Frame, layOut, type Page } from './layout.ts';
import { llmsText } from './llms.ts';
import { plain } from './markdown.ts';
import { createPageStore, type Make, type PageStore } from './page-store.ts';
import { type AddressedContract, addressed, type OperationAddress } from './reference/addresses.ts';
import { operationPage } from './reference/operation-page.ts';
import { contentsOf, overviewPage, referencesPage } from './reference/overview.ts';
import { postmanCollection } from './reference/postman.ts';
import type { DocumentTools, Reference } from './reference/reference.ts';
import { toResource } from './resource.ts';
import { searchIndex } from './search-index.ts';
import { toYaml } from './yaml.ts';

/** What the documentation is made from. */
export interface PortalOptions extends GuideSettings {
  /** The URL that clients use, without a final slash. */
  readonly publicUrl: string;
  contracts(): readonly Reference[];
  readonly tools: DocumentTools;
  /** Undefined: the title of the contract, if there is one. */
  readonly title: string | undefined;
  /** Markdown. */
  readonly description: string | undefined;
  readonly look: Look;
  readonly guides: readonly GuideSource[];
  readonly builtInGuides: boolean | readonly string[];
  readonly sampleOperation: string | undefined;
  /** Whether the operations of an organization's own account are served at `publicUrl`. */
  readonly hasAccount: boolean;
}

export interface PortalSite {
  readonly pages: PageStore;
  readonly frame: Frame;
}

/** The files that error pages are made from; one that a capability does not have counts as old. */
const CATALOGUE = [
  'error-catalogue.ts',
  ...Object.keys(ALL_CAPABILITIES).flatMap((folder) => [`${folder}/capability.ts`, `${folder}/codes.ts`]),
].map((file) => fileURLToPath(new URL(`../${file}`, import.meta.url)));

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

export async function openSite(options: PortalOptions): Promise<PortalSite> {
  const { publicUrl, tools, look } = options;
  const published = options.contracts();
  const references = published.map((contract) => addressed(contract));
  const { title, description } = nameOf(options, published);
  const sample = sampleOperationOf(references, options.sampleOperation);
  const facts = guideFacts(references, sample, options, tools);
  const guides = await loadGuides({ own: options.guides, builtIn: options.builtInGuides, facts });
  const names = new Set(guides.map(({ name }) => name));
  const frame = {
    title,
    hasLogo: look.logo !== undefined,
    hasGuides: guides.length > 0,
    hasAccount: options.hasAccount,
  };
  const fixed = new Map<string, Make>(assetsFor(look));
  const many = new Map<string, Make>();
  const addPage = createAddPage(frame);
  const landing = { title, description, references, guides, sample, tools };
  addPage(fixed, '/docs', () => landingPage(landing));
  addPage(fixed, '/docs/reference', () => referencesPage(references));
  if (guides.length > 0) addPage(fixed, '/docs/guides', () => guidesPage(guides, title));
  for (const guide of guides) addPage(fixed, `/docs/guides/${guide.name}`, () => guidePage(guide, guides));
  const further = options.hasAccount ? [accountPage(references)] : [];
  for (const page of further) addPage(fixed, page.path, () => page);
  const updated = createDates();
  const ofCatalogue = async (page: Page) => ({ ...page, updatedMs: await updated(CATALOGUE) });
  addPage(fixed, '/docs/errors', () => ofCatalogue(errorsPage(names)));
  for (const code of errorCodes as readonly ErrorCode[])
    addPage(fixed, `/docs/errors/${code}`, () => ofCatalogue(errorPage(code, publicUrl, names, facts)));
  for (const [index, contract] of published.entries())
    addReference(contract, references[index] as AddressedContract, {
      references,
      options,
      names,
      fixed,
      many,
      addPage,
    });
  const llms = () =>
    toResource(
      'document',
      TEXT,
      llmsText({ title, description: plain(description), publicUrl, guides, references, pages: further }),
    );
  fixed.set('/llms.txt', llms);
  fixed.set('/docs/search.json', () =>
    toResource('asset', 'application/json', searchIndex(references, guides, further)),
  );
  return { pages: createPageStore(fixed, many), frame };
}

/** What the API is called where the configuration does not say: a single contract says it. */
function nameOf(
  { title, description }: PortalOptions,
  published: readonly Reference[],
): { title: string; description: string } {
  const sole = published.length === 1 ? published[0] : undefined;
  return { title: title ?? (sole?.title || 'API'), description: description ?? sole?.description ?? '' };
}

type AddPage = (to: Map<string, Make>, path: string, make: () => Page | Promise<Page>) => void;

/** A page is two resources: HTML, and Markdown at the same path with `.md`. */
function createAddPage(frame: Frame): AddPage {
  return (to, path, make) => {
    to.set(path, async () => toResource('page', HTML, layOut(await make(), frame)));
    to.set(`${path}.md`, async () => toResource('document', MARKDOWN, (await make()).markdown));
  };
}

interface Site {
  readonly references: readonly AddressedContract[];
  readonly options: PortalOptions;
  /** Of the guides. */
  readonly names: ReadonlySet<string>;
  readonly fixed: Map<string, Make>;
  readonly many: Map<string, Make>;
  readonly addPage: AddPage;
}

function addReference(
  contract: Reference,
  own: AddressedContract,
  { references, options, names, fixed, many, addPage }: Site,
): void {
  const { name, server, operations } = contract;
  const { tools, publicUrl } = options;
  const updated = createDates();
  const files = [...new Set(operations.flatMap((operation) => operation.files))];
  addPage(fixed, own.path, async () => overviewPage(own, references, { tools, updatedMs: await updated(files) }));
  // Pages may send requests to their own address only.
  const canTry = server === publicUrl;
  const page = async (at: OperationAddress) =>
    operationPage(at, own, {
      tools,
      publicUrl,
      guides: names,
      contents: contentsOf(references, own, at),
      canTry,
      updatedMs: await updated(at.operation.files),
    });
  for (const at of own.operations) addPage(many, at.path, () => page(at));
  fixed.set(`${own.path}.postman.json`, async () =>
    toResource('document', 'application/json', await postmanCollection(own, tools, turn)),
  );
  fixed.set(`/openapi/${name}.json`, async () => toResource('document', 'application/json', await contract.json()));
  fixed.set(`/openapi/${name}.yaml`, async () =>
    toResource('document', 'application/yaml', await toYaml(await contract.json())),
  );
}

/** Returns a function that gives the date of the newest of some files; undefined if none can be read. */
function createDates(): (files: readonly string[]) => Promise<number | undefined> {
  const known = new Map<string, Promise<number>>();
  const dateOf = (file: string) => {
    const date =
      known.get(file) ??
      stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      );
    known.set(file, date);
    return date;
  };
  return async (files) => Math.max(0, ...(await Promise.all(files.map(dateOf)))) || undefined;
}
