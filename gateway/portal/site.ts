// Everything under /docs and /openapi, by path. Reading the guides and the addresses of operations comes first; pages are made when they
// are asked for.

import { stat } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ALL_CAPABILITIES } from '../catalogue/capabilities.ts';
import type { CodeNeed } from '../catalogue/catalogue-entry.ts';
import { type ErrorCode, REFUSALS } from '../catalogue/errors.ts';
import { needsScopeIn } from '../shared/contracts/scopes.ts';
import type { GuideSource } from '../shared/guide-source.ts';
import { accountPage } from './account.ts';
import { agentsPage } from './agents.ts';
import { type Assets, openAssets } from './assets.ts';
import { changesEntries } from './changes/entries.ts';
import { changesFeed, feedPath } from './changes/feed.ts';
import { changesPage } from './changes/page.ts';
import { errorPage, errorsPage } from './error-pages.ts';
import { type ChosenSample, type GuideSettings, guideFacts, sampleOperationOf } from './guide-facts.ts';
import { guidePage, guidesPage, loadGuides } from './guides.ts';
import { landingPage } from './landing.ts';
import { type Frame, layOut, type Page } from './layout.ts';
import { limitsPage, type PublicLimits } from './limits-page.ts';
import { listedCodes } from './listed-codes.ts';
import { llmsText } from './llms.ts';
import { type Look, markOf } from './look.ts';
import { plain, withMarkdownLinks } from './markdown.ts';
import { createPageStore, type Make, type PageStore } from './page-store.ts';
import { type AddressedContract, addressed, type OperationAddress } from './reference/addresses.ts';
import { operationPage } from './reference/operation-page.ts';
import { contentsOf, overviewPage, referencesPage } from './reference/overview.ts';
import { postmanCollection } from './reference/postman.ts';
import type { DocumentTools, Reference, ReferredOperation } from './reference/reference.ts';
import { resourcePage } from './reference/resource-page.ts';
import { toResource } from './resource.ts';
import { searchIndex } from './search/index.ts';
import { toYaml } from './yaml.ts';

/** What the documentation is made from. */
export interface PortalOptions extends GuideSettings {
  /** The URL that clients use, without a final slash. */
  readonly publicUrl: string;
  contracts(): readonly Reference[];
  readonly tools: DocumentTools;
  /** The title; undefined to use the title of the contract, if there is one. */
  readonly title: string | undefined;
  /** Markdown. */
  readonly description: string | undefined;
  readonly look: Look;
  /** The limits; undefined if the documentation has no page about them. */
  readonly limits: PublicLimits | undefined;
  readonly guides: readonly GuideSource[];
  readonly builtInGuides: boolean | readonly string[];
  readonly sampleOperation: string | undefined;
  /** The path of the endpoint for the tools of agents; undefined if there is none. */
  readonly agentsPath: string | undefined;
  /** What the configuration has of what codes need. */
  readonly metNeeds: ReadonlySet<CodeNeed>;
  /** Scopes that only operators of the platform may hold. */
  readonly operatorScopes: ReadonlySet<string>;
}

export interface PortalSite {
  readonly pages: PageStore;
  readonly frame: Frame;
  /** Version of the assets. */
  readonly version: string;
}

/** The files that error pages are made from. The newest gives the pages their date. A capability may lack one of them. */
const CATALOGUE = [
  'catalogue/errors.ts',
  ...Object.keys(ALL_CAPABILITIES).flatMap((folder) => [`${folder}/capability.ts`, `${folder}/codes.ts`]),
].map((file) => fileURLToPath(new URL(`../${file}`, import.meta.url)));

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

export async function openSite(options: PortalOptions): Promise<PortalSite> {
  const { publicUrl, tools, look } = options;
  const published = options.contracts();
  const isForOperators = createIsForOperators(published, options.operatorScopes);
  const references = published.map((contract) => addressed(contract, isForOperators));
  const { title, description } = nameOf(options, published);
  const sample = sampleOperationOf(references, options.sampleOperation);
  const facts = guideFacts(references, sample, options, tools);
  const guides = await loadGuides({ own: options.guides, builtIn: options.builtInGuides, facts });
  const names = new Set(guides.map(({ name }) => name));
  const further = furtherPages(options, references, names, title);
  const assets = await openAssets(look, title);
  const frame = frameOf(options, title, { assets, hasGuides: guides.length > 0, further, references, sample });
  const fixed = new Map<string, Make>(assets.makes);
  const many = new Map<string, Make>();
  const addPage = createAddPage(frame);
  const landing = { title, description, publicUrl, references, guides, sample, tools, help: options.help, further };
  addPage(fixed, '/docs', () => landingPage(landing));
  addPage(fixed, '/docs/reference', () => referencesPage(references));
  if (guides.length > 0) addPage(fixed, '/docs/guides', () => guidesPage(guides, title));
  for (const guide of guides) addPage(fixed, `/docs/guides/${guide.name}`, () => guidePage(guide, guides));
  for (const page of further) addPage(fixed, page.path, () => page);
  for (const [path, entries] of feedsOf(options.publications, references)) {
    const feed = () => changesFeed(entries, { title, publicUrl, path });
    fixed.set(path, () => toResource('document', 'application/atom+xml; charset=utf-8', feed()));
  }
  const updated = createDates();
  const ofCatalogue = async (page: Page) => ({ ...page, updatedMs: await updated(CATALOGUE) });
  const codes = listedCodes(options.metNeeds);
  addPage(fixed, '/docs/errors', () => ofCatalogue(errorsPage(codes, names)));
  for (const code of Object.keys(REFUSALS) as ErrorCode[]) {
    const of = { publicUrl, guides: names, facts, isListed: codes.includes(code) };
    addPage(fixed, `/docs/errors/${code}`, () => ofCatalogue(errorPage(code, of)));
  }
  for (const [index, contract] of published.entries())
    addReference(contract, references[index] as AddressedContract, {
      references,
      options,
      names,
      codes,
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
  // Programs look for it at the root, and beside the documentation.
  for (const path of ['/llms.txt', '/docs/llms.txt']) fixed.set(path, llms);
  const searched = { references, guides, pages: further, codes, help: options.help };
  fixed.set('/docs/search.json', () => toResource('asset', 'application/json', searchIndex(searched, tools)));
  return { pages: createPageStore(fixed, many), frame, version: assets.version };
}

/**
 * Returns whether an operation is for operators alone, and is kept apart from the others. If all operations are, none is kept apart, because
 * the readers are operators.
 */
function createIsForOperators(
  published: readonly Reference[],
  operatorScopes: ReadonlySet<string>,
): (operation: ReferredOperation) => boolean {
  const isForOperators = (operation: ReferredOperation) => needsScopeIn(operatorScopes, operation);
  return published.every(({ operations }) => operations.every(isForOperators)) ? () => false : isForOperators;
}

/** Pages beside guides and reference, in the order of their links. */
function furtherPages(
  { limits, publications, hasAccount, agentsPath, help, publicUrl }: PortalOptions,
  references: readonly AddressedContract[],
  guides: ReadonlySet<string>,
  title: string,
): Page[] {
  const changes = changesPage(changesEntries(publications, references));
  return [
    ...(limits === undefined ? [] : [limitsPage(limits, references, guides.has('rate-limits'))]),
    ...(changes === undefined ? [] : [changes]),
    agentsPage({ path: agentsPath, publicUrl, title, references, guides }),
    ...(hasAccount ? [accountPage(references, help.contact)] : []),
  ];
}

/** The feed of all changes, and that of each contract; none if nothing is recorded. */
function feedsOf(publications: PortalOptions['publications'], references: readonly AddressedContract[]) {
  const all = changesEntries(publications, references);
  const own = Map.groupBy(all, ({ publication }) => feedPath(publication.contract));
  return all.length === 0 ? [] : [[feedPath(), all] as const, ...own];
}

interface FrameParts {
  readonly assets: Assets;
  readonly hasGuides: boolean;
  readonly further: readonly Page[];
  readonly references: readonly AddressedContract[];
  readonly sample: ChosenSample | undefined;
}

function frameOf(
  { look, help, publicUrl }: PortalOptions,
  title: string,
  { assets, hasGuides, further, references, sample }: FrameParts,
): Frame {
  const all = references.flatMap(({ operations }) => operations.map(({ operation }) => operation));
  const takesTestKeys = all.some(
    ({ hasTestMode, security }) => hasTestMode && security.some(({ scheme }) => scheme === 'apiKey'),
  );
  return {
    title,
    assets: assets.base,
    logo: look.logo && `${assets.base}/logo`,
    mark: markOf(title),
    sections: [
      ['/docs', 'Start'],
      ...(hasGuides ? [['/docs/guides', 'Guides'] as const] : []),
      ['/docs/reference', 'Reference'],
      ['/docs/errors', 'Errors'],
      ...further.map(({ path, title: name }) => [path, name] as const),
    ],
    keyBar: takesTestKeys ? { probe: probeOf(sample, publicUrl) } : undefined,
    help,
  };
}

/** A read that tells whether a test key is good: the sample operation, if the pages may ask it. */
function probeOf(sample: ChosenSample | undefined, publicUrl: string): string | undefined {
  if (sample === undefined || sample.server !== publicUrl) return undefined;
  const { method, path, hasTestMode, security, parameters } = sample.at.operation;
  const isFree = parameters.every(({ required }) => required !== true) && !path.includes('{');
  const takesKeys = security.some(({ scheme }) => scheme === 'apiKey');
  return method === 'GET' && hasTestMode && isFree && takesKeys ? path : undefined;
}

/** Longest title, in letters. If the titles of all services are longer together, they stand in the description. */
const TITLES_MAX = 60;

/**
 * Returns title and description of the API: those of the configuration, else those of the contracts. Contracts of the gateway itself count
 * only if there are no others.
 */
function nameOf(
  { title, description }: PortalOptions,
  published: readonly Reference[],
): { title: string; description: string } {
  const ofServices = published.filter(({ isOfGateway }) => !isOfGateway);
  const named = ofServices.length > 0 ? ofServices : published;
  const [sole] = named;
  if (sole !== undefined && named.length === 1)
    return { title: title ?? (sole.title || 'API'), description: description ?? sole.description };
  const titles = named.flatMap((one) => one.title || []).join(', ');
  return {
    title: title ?? (titles !== '' && titles.length <= TITLES_MAX ? titles : 'API'),
    description: description ?? (titles === '' ? '' : `Several services at one address: ${titles}.`),
  };
}

type AddPage = (to: Map<string, Make>, path: string, make: () => Page | Promise<Page>) => void;

/** A page is two resources: HTML, and Markdown at the same path with `.md`. */
function createAddPage(frame: Frame): AddPage {
  return (to, path, make) => {
    to.set(path, async () => toResource('page', HTML, layOut(await make(), frame)));
    to.set(`${path}.md`, async () => toResource('document', MARKDOWN, withMarkdownLinks((await make()).markdown)));
  };
}

interface Site {
  readonly references: readonly AddressedContract[];
  readonly options: PortalOptions;
  /** Names of the guides. */
  readonly names: ReadonlySet<string>;
  readonly codes: readonly ErrorCode[];
  readonly fixed: Map<string, Make>;
  readonly many: Map<string, Make>;
  readonly addPage: AddPage;
}

function addReference(
  contract: Reference,
  own: AddressedContract,
  { references, options, names, codes, fixed, many, addPage }: Site,
): void {
  const { name, server, operations } = contract;
  const { tools, publicUrl } = options;
  const updated = createDates();
  const files = [...new Set(operations.flatMap((operation) => operation.files))];
  addPage(fixed, own.path, async () => overviewPage(own, references, { tools, updatedMs: await updated(files) }));
  const page = async (at: OperationAddress) =>
    operationPage(at, own, {
      tools,
      publicUrl,
      guides: names,
      codes,
      contents: contentsOf(references, own, at),
      isOwnOrigin: server === publicUrl,
      updatedMs: await updated(at.operation.files),
    });
  for (const group of own.groups)
    addPage(many, group.path, async () =>
      resourcePage(group, own, {
        tools,
        contents: contentsOf(references, own, { group }),
        updatedMs: await updated(group.operations.flatMap(({ operation }) => operation.files)),
      }),
    );
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
