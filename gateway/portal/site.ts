// Everything under /docs and /openapi, by path. Reading the guides and the addresses of operations comes first. Each page is made at its
// first request.

import type { CodeNeed } from '../catalogue/catalogue-entry.ts';
import { needsScopeIn } from '../shared/contracts/scopes.ts';
import type { GuideSource } from '../shared/guide-source.ts';
import { accountPage } from './account.ts';
import { agentsPage } from './agents.ts';
import { openAssets } from './assets.ts';
import { changesEntries } from './changes/entries.ts';
import { addFeeds } from './changes/feed.ts';
import { changesPage } from './changes/page.ts';
import { addCataloguePages } from './error-pages.ts';
import { frameOf } from './frame.ts';
import { type GuideSettings, guideFacts, sampleOperationOf } from './guide-facts.ts';
import { type Guide, guidePage, guidesPage, loadGuides } from './guides.ts';
import { landingPage } from './landing.ts';
import type { Frame, Page } from './layout.ts';
import { limitsPage, type PublicLimits } from './limits-page.ts';
import { listedCodes } from './listed-codes.ts';
import type { Look } from './look.ts';
import type { PageStore } from './page-store.ts';
import { addProgramFiles } from './program-files.ts';
import { type AddressedContract, addressed } from './reference/addresses.ts';
import type { DocumentTools, Reference, ReferredOperation } from './reference/reference.ts';
import { addContractPages, addReferenceList } from './reference/reference-pages.ts';
import { createSiteMap, type SiteMap } from './site-map.ts';

/** Maximum length of the title. If the titles of all services are longer together, they are in the description. */
const TITLES_MAX = 60;

/** The sources of the documentation. */
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
  /** The needs of codes that the configuration meets. */
  readonly metNeeds: ReadonlySet<CodeNeed>;
  /** Scopes that only operators of the platform may hold. */
  readonly operatorScopes: ReadonlySet<string>;
}

export interface PortalSite {
  readonly pages: PageStore;
  readonly frame: Frame;
  /** The titles of pages, by path. Error codes are left out, because their paths name them. */
  readonly titles: ReadonlyMap<string, string>;
  /** Version of the assets. */
  readonly version: string;
}

export async function openSite(options: PortalOptions): Promise<PortalSite> {
  const { publicUrl, tools, look, help } = options;
  const published = options.contracts();
  const isForOperators = createIsForOperators(published, options.operatorScopes);
  const references = published.map((contract) => addressed(contract, isForOperators));
  const { title, description } = apiNameOf(options, published);
  const sample = sampleOperationOf(references, options.sampleOperation);
  const facts = guideFacts(references, sample, options, tools);
  const guides = await loadGuides({ own: options.guides, builtIn: options.builtInGuides, facts });
  const guideNames = new Set(guides.map(({ name }) => name));
  const codes = listedCodes(options.metNeeds);
  const pages = otherPagesOf(options, references, guideNames, title);
  const assets = await openAssets(look, title);
  const hasGuides = guides.length > 0;
  const frame = frameOf(options, title, { assets, hasGuides, otherPages: pages, references, sample });

  const site = createSiteMap(frame, assets.makes);
  const landing = { title, description, publicUrl, references, guides, sample, tools, help, otherPages: pages };
  site.addPage('/docs', () => landingPage(landing));
  addReferenceList(site, references);
  addGuidePages(site, guides, title);
  for (const page of pages) site.addPage(page.path, () => page);
  addFeeds(site, options, references, title);
  addCataloguePages(site, { publicUrl, guides: guideNames, facts, codes });
  for (const own of references)
    addContractPages(site, own, { references, publicUrl, tools, guides: guideNames, codes });
  addProgramFiles(site, { title, description, publicUrl, references, guides, pages, codes, help, tools });
  return { pages: site.toStore(), frame, titles: titlesOf(frame, references, guides), version: assets.version };
}

function titlesOf(
  { sections }: Frame,
  references: readonly AddressedContract[],
  guides: readonly Guide[],
): ReadonlyMap<string, string> {
  const ofReference = references.flatMap(({ path, reference, groups, operations, webhooks }) => [
    [path, reference.title] as const,
    ...groups.map((group) => [group.path, group.name] as const),
    ...[...operations, ...webhooks].map((one) => [one.path, one.title] as const),
  ]);
  const ofGuides = guides.map(({ name, title }) => [`/docs/guides/${name}`, title] as const);
  return new Map([...sections, ...ofReference, ...ofGuides]);
}

/**
 * Returns the title and the description of the API, from the configuration, otherwise from the contracts. Contracts of the gateway itself
 * are used only if there are no others.
 */
function apiNameOf(
  { title, description }: Pick<PortalOptions, 'title' | 'description'>,
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

/** Returns the pages beside guides, reference and errors that the configuration has, in the order of their links. */
function otherPagesOf(
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

function addGuidePages(site: SiteMap, guides: readonly Guide[], title: string): void {
  if (guides.length > 0) site.addPage('/docs/guides', () => guidesPage(guides, title));
  for (const guide of guides) site.addPage(`/docs/guides/${guide.name}`, () => guidePage(guide, guides));
}

/**
 * Returns whether an operation is for operators alone, and is kept apart from the others. If all operations are, none is kept apart,
 * because the readers are operators.
 */
function createIsForOperators(
  published: readonly Reference[],
  operatorScopes: ReadonlySet<string>,
): (operation: ReferredOperation) => boolean {
  const isForOperators = (operation: ReferredOperation) => needsScopeIn(operatorScopes, operation);
  return published.every(({ operations }) => operations.every(isForOperators)) ? () => false : isForOperators;
}
