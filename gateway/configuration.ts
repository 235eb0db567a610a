// Loads configuration files and contracts and checks them together. Start, reload, `check` and the other commands use the same functions,
// so that files that `check` accepts also start. Secrets are checked in wiring/named-secrets.ts, the machine in
// process/start-mistakes.ts.

import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { contractsOf } from './config/contract-sources.ts';
import { crossCheck } from './config/cross-checks.ts';
import { changedFiles, completeManifest, digestsOf, requireListed, versionOf } from './config/digests.ts';
import { withFreeFiles } from './config/free-files.ts';
import { checkAcmeFiles } from './config/gateway/acme-needs.ts';
import { type PortalFiles, readPortalFiles } from './config/gateway/portal-files.ts';
import { type Config, type ConfigDraft, completeConfig, configFiles, loadConfig } from './config/load.ts';
import { withOperationIds } from './config/operation-names.ts';
import type { Environment, Settings } from './config/settings.ts';
import { readUpstreamTls, type UpstreamTls } from './config/upstreams/upstream-tls.ts';
import { type BreakingChanges, checkBreakingChanges } from './contract/diff/breaking-changes.ts';
import { type Contracts, loadContracts, locateMistakes, type ServedContracts } from './contract/load.ts';
import { pathOf } from './contract/pointer.ts';
import { type ContractReader, createDirectReader } from './contract/reading/document.ts';
import { type KeptContracts, openKeptContracts } from './contract/reading/kept-contracts.ts';
import { createThreadReader } from './contract/reading/reader.ts';
import { compileNew } from './contract/schemas/compile.ts';
import { tagsOf } from './contract/tools/tool-operation.ts';
import { type Certificate, loadCertificates } from './edge/tls/certificate.ts';
import { costsAboveLimits } from './limits/costs-above-limits.ts';
import { checkMcp } from './mcp/selection.ts';
import { BUILT_IN_GUIDES } from './portal/guides.ts';
import { createScopeRules, type ScopeRules } from './shared/contracts/scopes.ts';
import { isRecord } from './shared/is-record.ts';
import { ConfigError, condense, type Mistake } from './shared/mistakes.ts';
import { isGatewayItself } from './upstream/targets/addresses.ts';

const rulesOfConfigurations = new WeakMap<Configuration, ScopeRules>();

/** Returns the rules that say which scopes a caller has to name. The same configuration always gives the same object. */
export function scopeRulesOf(configuration: Configuration): ScopeRules {
  const known = rulesOfConfigurations.get(configuration);
  if (known !== undefined) return known;
  const { gateway, upstreams } = configuration.config;
  const hasOwnContract = Object.values(upstreams).some(({ live }) => live.some(isGatewayItself));
  const rules = createScopeRules(gateway.operatorScopes, hasOwnContract);
  rulesOfConfigurations.set(configuration, rules);
  return rules;
}

export interface Configuration {
  readonly config: Config;
  readonly contracts: Contracts;
  /** The published contracts, and the result of comparing the served contracts with them. */
  readonly breakingChanges: BreakingChanges;
  /** The TLS settings by upstream; upstreams without TLS settings are absent. */
  readonly upstreamTls: ReadonlyMap<string, UpstreamTls>;
  /** The logo and the guides of the documentation. */
  readonly portalFiles: PortalFiles;
  /** Certificates of the public listener at start; `wiring/certificates.ts` follows their renewal. */
  readonly certificates: readonly Certificate[];
  /** The digest of all files. It is equal for equal contents. */
  readonly version: string;
  /** Whether every file was compared with a list of digests (config/digests.ts). */
  readonly isListed: boolean;
  /** The digest of each file that was read. */
  readonly files: ReadonlyMap<string, string>;
}

export type LoadPurpose = 'check' | 'serve' | 'compare';

/**
 * Loads and checks everything. Throws ConfigError with all mistakes, in files and contracts together, or OutOfFiles.
 *
 * @param purpose `check` finds the mistakes of all schemas and lets exceptions expire; `serve` leaves large sets of schemas for first use;
 * `compare` does, too, and accepts what breaks a published contract
 * @param limitsPath file to read in place of limits.yaml
 * @param ignoresManifest whether to ignore the list of digests, because it is about to be written
 */
export function loadConfiguration(
  settings: Settings,
  environment: Environment,
  purpose: LoadPurpose = 'serve',
  limitsPath?: string,
  ignoresManifest = false,
): Promise<Configuration> {
  return withFreeFiles(async () => {
    const manifest = ignoresManifest ? undefined : await completeManifest(settings.configDirectory);
    const kept = openKeptContracts();
    const reader = createDirectReader(settings.contractsDirectory, kept);
    const checked = await check(settings, environment, { reader, purpose, limitsPath, kept });
    const files = await digestsOf(filesOf(settings, checked));
    requireListed(manifest, files);
    return { ...checked, files, version: versionOf(files), isListed: manifest !== undefined };
  });
}

/**
 * Reloads while the gateway serves. Unchanged files are reused. Changed files are processed in slices and in another thread, so that
 * requests wait only milliseconds. Resolves with `previous` if no file has changed. Throws ConfigError or OutOfFiles.
 */
export function reloadConfiguration(
  settings: Settings,
  environment: Environment,
  previous: Configuration,
): Promise<Configuration> {
  return withFreeFiles(async () => {
    // This comes first, because mistakes in files that are still being written mean nothing.
    const manifest = await completeManifest(settings.configDirectory);
    const digests = await digestsOf(previous.files.keys());
    const reader = createThreadReader(settings.contractsDirectory);
    const isUnchanged = (file: string) => digests.get(file) === previous.files.get(file);
    if (![...previous.contracts.files].every(isUnchanged)) reader.start();
    const earlier = { contracts: previous.contracts, isUnchanged };
    try {
      const { certificates, breakingChanges: breakingBefore } = previous;
      const former = { earlier, breakingBefore, certificates };
      const checked = await check(settings, environment, { reader, purpose: 'serve', ...former });
      const all = filesOf(settings, checked);
      const added = await digestsOf([...all].filter((file) => !digests.has(file)));
      const files = new Map([...all].map((file) => [file, digests.get(file) ?? added.get(file) ?? '']));
      requireListed(manifest, files);
      if (changedFiles(previous.files, files).length === 0) return previous;
      // Serve waiting requests first: putting the configuration in force takes some milliseconds.
      await turn();
      return { ...checked, files, version: versionOf(files), isListed: manifest !== undefined };
    } finally {
      reader.close();
    }
  });
}

function filesOf(
  { configDirectory }: Settings,
  { contracts, breakingChanges, upstreamTls, portalFiles }: CheckedParts,
): Set<string> {
  const ofTls = [...upstreamTls.values()].flatMap(({ files }) => files);
  return new Set([
    ...configFiles(configDirectory),
    ...contracts.files,
    ...breakingChanges.promised.map(({ file }) => file),
    ...(breakingChanges.publicationsFile === undefined ? [] : [breakingChanges.publicationsFile]),
    ...ofTls,
    ...portalFiles.files,
  ]);
}

type CheckedParts = Pick<
  Configuration,
  'config' | 'contracts' | 'breakingChanges' | 'upstreamTls' | 'portalFiles' | 'certificates'
>;

interface CheckOptions {
  readonly reader: ContractReader;
  readonly purpose: LoadPurpose;
  readonly limitsPath?: string | undefined;
  readonly kept?: KeptContracts | undefined;
  readonly earlier?: ServedContracts;
  readonly breakingBefore?: BreakingChanges;
  /** Used instead of reading the files. */
  readonly certificates?: readonly Certificate[];
}

async function check(
  settings: Settings,
  environment: Environment,
  { reader, purpose, limitsPath, kept, earlier, breakingBefore, certificates: former }: CheckOptions,
): Promise<CheckedParts> {
  const mistakes: Mistake[] = [];
  const draft = loadConfig(settings.configDirectory, environment, mistakes, limitsPath);
  const certificates = former ?? certificatesOf(draft, settings, mistakes);
  // With hundreds of upstreams, the steps so far take some milliseconds.
  await turn();
  const { configDirectory } = settings;
  const upstreamTls = readUpstreamTls(draft.upstreams, configDirectory, draft.sources.upstreams, mistakes);
  const portalFiles = portalFilesOf(draft, settings, mistakes);
  const { isComplete, ...wanted } = contractsOf(draft);
  const contracts = await loadContracts(
    {
      ...wanted,
      directory: settings.contractsDirectory,
      likelyDirectory: join(configDirectory, 'openapi'),
      publishedDirectory: draft.gateway?.publishedContracts,
      reader,
      earlier,
    },
    mistakes,
  );
  const isWhole = isComplete && contracts.isWhole;
  if (isWhole) crossCheck(draft, contracts, mistakes);
  if (isWhole && draft.gateway !== undefined) checkAgents(draft, contracts, mistakes);
  if (isWhole) mistakes.push(...costMistakes(draft, contracts).never);
  const operations = contracts.operations.map(({ operation }) => operation);
  const named = withOperationIds(draft, operations);
  const found: Mistake[] = [];
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
      kept,
    },
    found,
  );
  mistakes.push(...found.filter(({ decisions }) => purpose !== 'compare' || decisions === undefined));
  await compileNew(contracts, { all: purpose === 'check', earlier, kept }, mistakes);
  await locateMistakes(contracts, reader);
  const config = completeConfig(named);
  if (mistakes.length > 0 || !config) throw new ConfigError(condense(mistakes), warningsBeside(mistakes, contracts));
  return { config, contracts, breakingChanges, upstreamTls, portalFiles, certificates };
}

/**
 * Returns the warnings about contracts that also have mistakes. A warning may explain a mistake. For example, a contract may break a
 * promise because a member is misspelt. A file may have no operation, because none of its paths can be requested.
 */
function warningsBeside(mistakes: readonly Mistake[], { documents }: Contracts): Mistake[] {
  const files = new Set(mistakes.map(({ file }) => file));
  const isTold = ({ file, line }: Mistake) => mistakes.some((one) => one.file === file && one.line === line);
  return condense(
    documents
      .flatMap(({ warnings }) => warnings)
      .filter((one) => (one.refusesAll || files.has(one.file)) && !isTold(one)),
  );
}

/** Returns the mistakes and warnings of operations whose cost exceeds a limit. */
export function costMistakes(
  { limits, upstreams, sources }: Pick<ConfigDraft, 'limits' | 'upstreams' | 'sources'>,
  { operations }: Contracts,
): ReturnType<typeof costsAboveLimits> {
  if (limits === undefined) return { never: [], sometimes: [] };
  return costsAboveLimits(limits, operations, ({ operation: { id, entry }, document, located }, reason, remedy) => {
    if (limits.operations[id]?.cost !== undefined)
      return sources.limits.mistakeAt(['operations', id, 'cost'], reason, remedy);
    const isOwn = isRecord(located.value) && Object.hasOwn(located.value, 'x-gateway-cost');
    if (upstreams[entry]?.cost !== undefined && !isOwn)
      return sources.upstreams.mistakeAt(['upstreams', entry, 'cost'], reason, remedy);
    const path = pathOf(located.pointer);
    return document.position().mistakeAt(isOwn ? [...path, 'x-gateway-cost'] : path, reason, remedy);
  });
}

function checkAgents({ gateway, upstreams, sources }: ConfigDraft, contracts: Contracts, mistakes: Mistake[]): void {
  const operations = contracts.operations.map((entry) => ({ operation: entry.operation, tags: tagsOf(entry) }));
  checkMcp(gateway?.mcp, { operations, entries: Object.keys(upstreams) }, sources.gateway, mistakes);
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
  if (gateway === undefined) return [];
  const certificates = loadCertificates({ gateway, sources }, configDirectory, mistakes);
  checkAcmeFiles({ gateway, sources }, certificates, configDirectory, mistakes);
  return certificates;
}
