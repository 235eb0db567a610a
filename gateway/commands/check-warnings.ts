// The warnings of `check`, about settings of a valid configuration that probably do not do what their author wanted. Examples are files
// that are not served, settings without effect, and public operations without a limit.

import { sampleWarning } from '../config/gateway/portal.ts';
import { untimelyTls } from '../config/upstreams/upstream-tls.ts';
import { type Configuration, costMistakes } from '../configuration.ts';
import { BREAKING_RULES } from '../contract/diff/breaking-rules.ts';
import { ambiguousPaths } from '../contract/lint/ambiguous-paths.ts';
import { bufferedUploads } from '../contract/lint/buffered-uploads.ts';
import { costlySchemas } from '../contract/lint/costly-schemas.ts';
import { impossibleSchemas } from '../contract/lint/impossible-schemas.ts';
import { neededSchemas } from '../contract/lint/needed-schemas.ts';
import { unfitValues } from '../contract/lint/unfit-values.ts';
import { unlistedFiles } from '../contract/load.ts';
import { foreignOrigin } from '../contract/operations/servers.ts';
import { member, pathOf } from '../contract/pointer.ts';
import type { ContractDocument } from '../contract/reading/document.ts';
import { openKeptContracts } from '../contract/reading/kept-contracts.ts';
import type { Schemas } from '../contract/schemas/schemas.ts';
import { ANONYMOUS_TIER, extraOf } from '../limits/limit-rules.ts';
import { shownPath } from '../shared/file-text.ts';
import { condense, type Mistake, suggest, toSentence } from '../shared/mistakes.ts';
import { firstNames } from '../shared/text.ts';
import { positionsIn } from '../shared/yaml-source.ts';
import { modesFromContract } from '../upstream/targets/addresses.ts';
import { settingsWithoutEffect } from './settings-without-effect.ts';
import { withheldByDefault } from './withheld-by-default.ts';

/** Operations without a limit that the warning names. */
const UNLIMITED_NAMED_MAX = 5;

/** The contract of browser sessions, which is part of the gateway. No warning says that it is not served. */
const SESSION_CONTRACT = /\/session\/session\.yaml$/;

interface FileWarnings {
  readonly sentences: readonly string[];
  /** The number of warnings about operations or services that refuse every request. */
  readonly refusing: number;
}

/** Resolves with one sentence per warning, in the order of their kinds. Warnings of the machine are in check-machine.ts. */
export async function warningsOf(
  configuration: Configuration,
  contractsDirectory: string,
  nowMs: number,
): Promise<FileWarnings> {
  const { contracts, breakingChanges, upstreamTls } = configuration;
  const published = new Set(breakingChanges.promised.map(({ file }) => file));
  const isOff = (file: string) => configuration.config.gateway.sessions === undefined && SESSION_CONTRACT.test(file);
  const files = unlistedFiles(contractsDirectory, contracts).filter((file) => !published.has(file) && !isOff(file));
  const unlisted = files.map((file): Mistake => {
    const reason = 'no upstream lists this file, so it is not served.';
    return { file: shownPath(file), reason, remedy: 'List it in upstreams.yaml, or remove it.', refusesAll: true };
  });
  const crossing = ambiguousPaths(contracts.operations.map(({ operation }) => operation)).map(
    ([left, right]) => `${left} and ${right} both match some paths; the one with a literal further left wins.`,
  );
  const elsewhere = onOtherHosts(configuration);
  const withheld = condense(withheldByDefault(configuration));
  const limits = [...settingsWithoutEffect(configuration), ...unlimitedWarnings(configuration)];
  const inexact = condense(contracts.documents.flatMap(({ warnings }) => warnings));
  const needed = neededSchemas(contracts.operations);
  const ofSchemas = contracts.documents.flatMap((document) => [
    ...impossibleSchemas(document, needed),
    ...newUnfitValues(document, contracts.schemas),
    ...costlySchemas(document),
  ]);
  const uploads = longUploads(configuration);
  const examples = await examplesWithoutBody(configuration);
  const costs = costMistakes(configuration.config, contracts).sometimes;
  // Adds the lines of all mistakes of a document at once, because each call parses the whole document.
  for (const document of contracts.documents)
    await document.position().locate(async (file, spots) => positionsIn(file, spots));
  const warnings = [
    ...unlisted,
    ...crossing,
    ...inexact,
    ...condense(ofSchemas),
    ...condense(uploads),
    ...elsewhere,
    ...withheld,
    ...limits,
    ...costs,
    ...untimelyTls(upstreamTls, nowMs),
    ...inconsistentDeprecations(configuration),
    ...shownInstead(configuration),
    ...liveExamples(configuration),
    ...condense(examples),
  ];
  return {
    sentences: warnings.map((one) => (typeof one === 'string' ? one : toSentence(one))),
    refusing: warnings.filter((one) => typeof one !== 'string' && one.refusesAll).length,
  };
}

/** Warns of values that do not fit their schemas. Skips a contract in which a former check has found none, because compiling takes long. */
function newUnfitValues(document: ContractDocument, schemas: Schemas): Mistake[] {
  const kept = openKeptContracts();
  if (kept?.isKnown('values-fit', document.root)) return [];
  const found = unfitValues(document, schemas);
  if (found.length === 0) kept?.keepFact('values-fit', document.root);
  return found;
}

/** Warns of uploads that are refused because of their length, and names the setting that admits them. */
function longUploads({ config, contracts }: Configuration): Mistake[] {
  const { bodyBytesMax } = config.gateway.limits;
  return bufferedUploads(contracts.operations).map(({ entry, canStream }) => {
    const { operation, document, located } = entry;
    const reason = `uploads of more than ${bodyBytesMax} bytes are refused (limits.bodyBytesMax).`;
    const raise = 'raise limits.bodyBytesMax in gateway.yaml';
    const remedy = canStream
      ? `To let longer ones through, set operations: { ${operation.id}: { body: stream } } in the entry, or ${raise}.`
      : `To let longer ones through, ${raise}.`;
    return document.position().mistakeAtKey(pathOf(located.pointer), reason, remedy);
  });
}

/** Warns of a sample operation that the pages cannot show. */
function shownInstead({ config: { gateway, sources }, contracts }: Configuration): Mistake[] {
  const operations = contracts.operations.map(({ operation }) => operation);
  const warning = sampleWarning(gateway.portal, operations, sources.gateway);
  return warning === undefined ? [] : [warning];
}

/** Warns of upstreams whose contract answers live keys. */
function liveExamples({ config: { upstreams, sources } }: Configuration): Mistake[] {
  const live = Object.entries(upstreams).filter(([, entry]) => modesFromContract(entry).includes('live'));
  return live.map(([name]) => {
    const reason = 'live keys are answered from the contract, because no service is behind it.';
    const remedy = 'Before production, set the address of the service.';
    return sources.upstreams.mistakeAt(['upstreams', name, 'live'], reason, remedy);
  });
}

/** Warns of answers without an example, in contracts that answer in place of a service. */
async function examplesWithoutBody({ config, contracts }: Configuration): Promise<Mistake[]> {
  const modesOf = (name: string) => modesFromContract(config.upstreams[name] ?? { live: [] });
  const operations = contracts.operations.filter(({ operation }) => modesOf(operation.upstream).length > 0);
  if (operations.length === 0) return [];
  // Loaded on demand, because it takes long.
  const { exampleFindings } = await import('../contract/examples/findings.ts');
  return exampleFindings(operations, contracts.schemas);
}

/** Warns of operations that a contract declares on another host. The gateway sends them to the addresses of the entry nevertheless. */
function onOtherHosts({ config, contracts }: Configuration): Mistake[] {
  const foreign = contracts.operations.flatMap(({ operation, document: { root }, located }) => {
    const { entry, upstream, path, publicPrefix } = operation;
    const item = member(root, { value: root.paths, pointer: '/paths' }, path.slice(publicPrefix.length)).value;
    const origin = entry === upstream ? foreignOrigin(root, item, located.value) : undefined;
    return origin === undefined ? [] : [{ operation, origin }];
  });
  const groups = Map.groupBy(foreign, ({ operation, origin }) => `${operation.entry} ${origin}`);
  return [...groups.values()].map((group) => {
    const [{ operation, origin }] = group as [(typeof foreign)[0]];
    const more = group.length === 1 ? '' : ` and ${group.length - 1} more`;
    const reason = `its contract has ${operation.id}${more} at ${origin}, and requests go to the addresses of "${operation.entry}".`;
    const remedy = `If they do not serve it, add servers: { ${origin}: <address> } to the entry.`;
    return config.sources.upstreams.mistakeAt(['upstreams', operation.entry, 'live'], reason, remedy);
  });
}

/** Warns of public operations without a limit, because each client address could call them without end. */
function unlimitedWarnings({ config, contracts }: Configuration): Mistake[] {
  const { limits, sources } = config;
  const ids = contracts.operations
    .filter(({ operation }) => operation.security.length === 0 && extraOf(limits, operation) === undefined)
    .map(({ operation }) => operation.id);
  if (ids.length === 0 || limits.tiers[ANONYMOUS_TIER] !== undefined) return [];
  const which = `the public ${ids.length === 1 ? 'operation' : 'operations'} ${firstNames(ids, UNLIMITED_NAMED_MAX)}`;
  const reason = `no limit counts the requests of a client address to ${which}.`;
  return [sources.limits.mistakeAt(['tiers'], reason, `Add the tier ${ANONYMOUS_TIER}.`)];
}

/** Warns of deprecations without a date, unpublished contracts, and exceptions that are no longer needed. */
function inconsistentDeprecations({ config, contracts, breakingChanges }: Configuration): string[] {
  const { versions, operations, publishedContracts } = config.gateway;
  const undated = contracts.operations.flatMap(({ operation, located }) => {
    const isDeprecated = (located.value as { deprecated?: unknown }).deprecated === true;
    const hasDate = [operations[operation.id], versions[operation.version ?? '']].some((life) => life?.deprecated);
    if (!isDeprecated || hasDate) return [];
    return `${operation.id} is deprecated in its contract, and no answer says so. Add operations.${operation.id}.deprecated with a day to gateway.yaml.`;
  });
  // Before the first publication, nothing is promised. Without this condition, a new configuration would get a warning about each of its
  // contracts.
  const unpublished = breakingChanges.promised.length === 0 ? [] : unpublishedWarning(breakingChanges.unpublished);
  const unused = unusedExceptions(breakingChanges.unused);
  return [...undated, ...(publishedContracts === undefined ? [] : [...unpublished, ...unused])];
}

type UnusedException = Configuration['breakingChanges']['unused'][number];

/**
 * Returns one warning for each exception with an unknown rule, and one for all others, because a publication makes them useless at once.
 */
function unusedExceptions(unused: readonly UnusedException[]): string[] {
  const { unknown = [], known = [] } = Object.groupBy(unused, ({ rule }) =>
    BREAKING_RULES.includes(rule) ? 'known' : 'unknown',
  );
  const misspelt = unknown.map(
    ({ operation, rule }) =>
      `the exception for ${operation} in upstreams.yaml accepts nothing, because no change has the rule "${rule}". ${suggest(rule, BREAKING_RULES)}`,
  );
  const [only] = known;
  if (only === undefined) return misspelt;
  const named = known.map(({ operation, rule }) => `${operation} (${rule})`).join(', ');
  const [exceptions, them] = known.length === 1 ? ['exception for', 'it'] : [`${known.length} exceptions for`, 'them'];
  const are = known.length === 1 ? 'is' : 'are';
  return [...misspelt, `the ${exceptions} ${named} ${are} not needed. Remove ${them} from breaking in upstreams.yaml.`];
}

/** Returns one warning for all contracts that are not published. */
function unpublishedWarning(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const [have, them] = names.length === 1 ? ['has', 'it'] : ['have', 'them'];
  const all = new Intl.ListFormat('en-GB').format(names.map(publishedName));
  return [
    `${all} ${have} never been published, so nothing keeps ${them} from breaking clients. Run "gateway contract publish".`,
  ];
}

/** Says of a version, which no file names, where it comes from. */
function publishedName(name: string): string {
  return /^v\d+$/.test(name) ? `${name} (the operations whose paths begin with /${name})` : name;
}
