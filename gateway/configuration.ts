// Loads configuration files and contracts and checks them together. Start, reload, `check` and the other commands use the same functions,
// so that files that `check` accepts also start. Secrets are checked in wiring/named-secrets.ts, the machine in
// wiring/start-mistakes.ts.

import { setImmediate as turn } from 'node:timers/promises';
import { changedFiles, digestsOf, versionOf } from './config/digests.ts';
import { type Config, type ConfigDraft, completed, configFiles, loadConfig } from './config/load.ts';
import { checkNamedOnce, withOperationIds } from './config/operation-names.ts';
import { checkOperationSettings } from './config/operation-settings.ts';
import { checkSampleOperation, type PortalFiles, readPortalFiles } from './config/portal-files.ts';
import { checkRuleNames } from './config/rule-names.ts';
import { checkServersUsed, serversOf } from './config/servers.ts';
import type { Environment, Settings } from './config/settings.ts';
import { checkTunnels } from './config/tunnels.ts';
import { readUpstreamTls, type UpstreamTls } from './config/upstream-tls.ts';
import { checkDeprecations } from './config/versions.ts';
import { ConfigError, condensed, type Mistake, suggest } from './config-errors.ts';
import { type ContractReader, createDirectReader } from './contract/document.ts';
import { openKeptContracts } from './contract/kept-contracts.ts';
import {
  type ContractSource,
  type Contracts,
  compileAll,
  type Earlier,
  loadContracts,
  locateMistakes,
} from './contract/load.ts';
import type { ContractOperation } from './contract/operations.ts';
import { createThreadReader } from './contract/reader.ts';
import type { Certificate } from './edge/tls/certificate.ts';
import { BUILT_IN_GUIDES } from './portal/guides.ts';
import { type BreakingChanges, checkBreakingChanges } from './wiring/breaking-changes.ts';
import { loadCertificates } from './wiring/certificates.ts';

export interface Configuration {
  readonly config: Config;
  readonly contracts: Contracts;
  /** The published contracts, and the result of comparing the served contracts with them. */
  readonly breakingChanges: BreakingChanges;
  /** Upstream → its TLS settings; upstreams without any are absent. */
  readonly upstreamTls: ReadonlyMap<string, UpstreamTls>;
  /** The logo and the guides of the documentation. */
  readonly portalFiles: PortalFiles;
  /** Certificates of the public listener at start; `wiring/certificates.ts` follows their renewal. */
  readonly certificates: readonly Certificate[];
  /** Digest over all files: equal for equal contents. */
  readonly version: string;
  /** Every file that was read → digest of its content. */
  readonly files: ReadonlyMap<string, string>;
}

/** Above this many operations, schemas are compiled on first use to keep the start quick: 100 operations take about 0.3 s. */
const COMPILED_AT_BOOT_MAX = 300;

/**
 * Loads and checks everything. Throws ConfigError with all mistakes, in files and contracts together.
 *
 * @param purpose `check` compiles every schema and lets exceptions expire; `serve` leaves large sets of schemas for first use
 * @param limitsPath file to read in place of limits.yaml
 */
export async function loadConfiguration(
  settings: Settings,
  environment: Environment,
  purpose: 'check' | 'serve' = 'serve',
  limitsPath?: string,
): Promise<Configuration> {
  const reader = createDirectReader(openKeptContracts());
  const checked = await check(settings, environment, { reader, purpose, limitsPath });
  const files = await digestsOf(filesOf(settings, checked));
  return { ...checked, files, version: versionOf(files) };
}

/**
 * Reloads under a gateway that serves: unchanged files are reused, and the others are processed in slices and in another thread, so that
 * requests wait milliseconds only. Resolves with `previous` if no file has changed. Throws ConfigError.
 */
export async function reloadConfiguration(
  settings: Settings,
  environment: Environment,
  previous: Configuration,
): Promise<Configuration> {
  const digests = await digestsOf(previous.files.keys());
  const reader = createThreadReader();
  const isUnchanged = (file: string) => digests.get(file) === previous.files.get(file);
  if (![...previous.contracts.files].every(isUnchanged)) reader.start();
  const earlier = { contracts: previous.contracts, isUnchanged };
  try {
    const { certificates, breakingChanges: breakingBefore } = previous;
    const kept = { earlier, breakingBefore, certificates };
    const checked = await check(settings, environment, { reader, purpose: 'serve', ...kept });
    const all = filesOf(settings, checked);
    const added = await digestsOf([...all].filter((file) => !digests.has(file)));
    const files = new Map([...all].map((file) => [file, digests.get(file) ?? added.get(file) ?? '']));
    if (changedFiles(previous.files, files).length === 0) return previous;
    // Serve waiting requests first: putting the configuration in force takes some milliseconds.
    await turn();
    return { ...checked, files, version: versionOf(files) };
  } finally {
    reader.close();
  }
}

function filesOf(
  { configDirectory }: Settings,
  { contracts, breakingChanges, upstreamTls, portalFiles }: Checked,
): Set<string> {
  const ofTls = [...upstreamTls.values()].flatMap(({ files }) => files);
  return new Set([
    ...configFiles(configDirectory),
    ...contracts.files,
    ...breakingChanges.promised.map(({ file }) => file),
    ...ofTls,
    ...portalFiles.files,
  ]);
}

type Checked = Pick<
  Configuration,
  'config' | 'contracts' | 'breakingChanges' | 'upstreamTls' | 'portalFiles' | 'certificates'
>;

interface CheckOptions {
  readonly reader: ContractReader;
  readonly purpose: 'check' | 'serve';
  readonly limitsPath?: string | undefined;
  readonly earlier?: Earlier;
  readonly breakingBefore?: BreakingChanges;
  /** Used instead of reading the files. */
  readonly certificates?: readonly Certificate[];
}

async function check(
  settings: Settings,
  environment: Environment,
  { reader, purpose, limitsPath, earlier, breakingBefore, certificates: former }: CheckOptions,
): Promise<Checked> {
  const mistakes: Mistake[] = [];
  const draft = loadConfig(settings.configDirectory, environment, mistakes, limitsPath);
  const certificates = former ?? certificatesOf(draft, settings, mistakes);
  // With hundreds of upstreams, the steps so far take some milliseconds.
  await turn();
  const { sources, names } = draft;
  const upstreamTls = readUpstreamTls(draft.upstreams, settings.configDirectory, sources.upstreams, mistakes);
  const portalFiles = portalFilesOf(draft, settings, mistakes);
  const complete =
    sources.upstreams.value !== undefined && names.upstreams.length === Object.keys(draft.upstreams).length;
  const contracts = await loadContracts(
    {
      directory: settings.contractsDirectory,
      sources: contractSources(draft),
      known: {
        upstreams: [...names.upstreams, ...furtherServersOf(draft)],
        limits: sources.limits.value === undefined ? undefined : names.limits,
        addressPaths: addressPathsOf(draft),
      },
      namedOperations: complete ? names.operations : [],
      mistakeAtOperation: (id, reason, remedy) => sources.limits.mistakeAtKey(['operations', id], reason, remedy),
      reader,
      earlier,
    },
    mistakes,
  );
  const isWhole = complete && contracts.isWhole;
  if (isWhole) {
    checkScopes(draft, contracts, mistakes);
    checkPlaces(draft, contracts, mistakes);
  }
  const operations = contracts.operations.map(({ operation }) => operation);
  const named = withOperationIds(draft, operations);
  const breakingChanges = await checkBreakingChanges(
    named,
    contracts,
    {
      contractsDirectory: settings.contractsDirectory,
      isWhole,
      earlier: earlier && breakingBefore && { breakingChanges: breakingBefore, isUnchanged: earlier.isUnchanged },
      nowMs: Date.now(),
      exceptionsEnd: purpose === 'check',
      locate: reader.locate,
    },
    mistakes,
  );
  const fresh = changedIn(contracts, earlier).filter(({ document }) => !document.isBroken);
  if (purpose === 'check' || fresh.length <= COMPILED_AT_BOOT_MAX) {
    await compileAll(fresh, contracts.schemas, mistakes);
  }
  await locateMistakes(contracts, reader);
  const config = completed(named);
  if (mistakes.length > 0 || !config) throw new ConfigError(condensed(mistakes));
  return { config, contracts, breakingChanges, upstreamTls, portalFiles, certificates };
}

/** The entries with their contracts; those with mistakes too, so that the mistakes of their contracts come in the same round. */
function contractSources({ upstreams, names, sources }: ConfigDraft): ContractSource[] {
  const source = sources.upstreams;
  const placesOf = (name: string): Pick<ContractSource, 'mistakeAtGlob' | 'mistakeAtEntry'> => ({
    mistakeAtGlob: (index, reason, remedy) => source.mistakeAt(['upstreams', name, 'contracts', index], reason, remedy),
    mistakeAtEntry: (reason, remedy) => source.mistakeAtKey(['upstreams', name], reason, remedy),
  });
  const usable = Object.entries(upstreams).map(([name, entry]) => ({
    ...entry,
    upstream: name,
    serverMappings: serversOf(name, entry).map(({ server, upstream, path }) => ({ server, upstream, path })),
    acceptsBasic: entry.basicForClients ?? entry.credential?.kind === 'basic',
    ...placesOf(name),
  }));
  const written = (source.value as { upstreams?: Record<string, unknown> } | undefined)?.upstreams ?? {};
  const others = names.upstreams.flatMap((name) => {
    const { contracts, basePath } = (Object.hasOwn(upstreams, name) ? {} : written[name]) as Record<string, unknown>;
    if (!Array.isArray(contracts) || !contracts.every((glob) => typeof glob === 'string')) return [];
    const path = typeof basePath === 'string' ? { basePath } : {};
    // Its security may be what is wrong; with a mistake, nothing of this is served.
    return [{ upstream: name, contracts, public: true, ...path, ...placesOf(name) }];
  });
  return [...usable, ...others];
}

/** The names of the upstreams that the entries have under `servers`. */
function furtherServersOf({ upstreams }: ConfigDraft): string[] {
  return Object.entries(upstreams).flatMap(([name, entry]) => serversOf(name, entry).map(({ upstream }) => upstream));
}

/** The paths of the addresses of upstreams that have some. */
function addressPathsOf({ upstreams }: ConfigDraft): Record<string, string> {
  const paths = Object.entries(upstreams).map(([name, { addressPath }]) => [name, addressPath] as const);
  return Object.fromEntries(paths.flatMap(([name, path]) => (path === undefined ? [] : [[name, path]])));
}

/** Checks the parts of the configuration that name operations and paths, now that the contracts are known. */
function checkPlaces(
  { gateway, upstreams, sources, names }: ConfigDraft,
  contracts: Contracts,
  mistakes: Mistake[],
): void {
  if (gateway === undefined) return;
  const { hosts, publicUrl } = gateway;
  const operations = contracts.operations.map(({ operation }) => operation);
  checkOperationSettings(upstreams, operations, sources.upstreams, mistakes);
  checkServersUsed(upstreams, operations, sources.upstreams, mistakes);
  checkRuleNames(upstreams, operations, sources.upstreams, mistakes);
  checkTunnels({ upstreams, hosts, publicUrl, operations, source: sources.upstreams }, mistakes);
  checkDeprecations(gateway, operations, sources.gateway, mistakes);
  checkSampleOperation(gateway.portal.sampleOperation, operations, sources.gateway, mistakes);
  checkNamedOnce(Object.keys(gateway.operations), operations, sources.gateway, mistakes);
  checkNamedOnce(names.operations, operations, sources.limits, mistakes);
}

function portalFilesOf(
  { gateway, sources }: ConfigDraft,
  { configDirectory }: Settings,
  mistakes: Mistake[],
): PortalFiles {
  if (gateway === undefined) return { logo: undefined, guides: [], files: [] };
  const { portal } = gateway;
  const options = { portal, directory: configDirectory, source: sources.gateway, builtIn: BUILT_IN_GUIDES };
  return readPortalFiles(options, mistakes);
}

function certificatesOf({ gateway, sources }: ConfigDraft, { configDirectory }: Settings, mistakes: Mistake[]) {
  return gateway === undefined ? [] : loadCertificates({ gateway, sources }, configDirectory, mistakes);
}

/** Operations of the documents that are new or have changed. */
function changedIn({ parts }: Contracts, earlier: Earlier | undefined): ContractOperation[] {
  const served = new Set(earlier?.contracts.documents);
  return parts.flatMap(({ document, operations }) => (served.has(document) ? [] : operations));
}

/** Rejects unknown scopes in `scopesMax`: a misspelt scope would silently grant nothing. */
function checkScopes({ gateway, sources }: ConfigDraft, { scopes }: Contracts, mistakes: Mistake[]): void {
  const known = new Set([...scopes, ...(gateway?.operatorScopes ?? [])]);
  for (const [name, { scopesMax }] of Object.entries(gateway?.issuers ?? {})) {
    for (const [index, scope] of scopesMax.entries()) {
      if (scope === '*' || known.has(scope)) continue;
      const reason = `the scope "${scope}" is unknown.`;
      mistakes.push(sources.gateway.mistakeAt(['issuers', name, 'scopesMax', index], reason, suggest(scope, known)));
    }
  }
}
