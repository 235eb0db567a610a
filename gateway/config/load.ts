// Reads config/*.yaml, reports all mistakes at once and freezes the result.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type LimitsFile, limitsFile } from '../limits/settings.ts';
import { shownPath } from '../shared/file-text.ts';
import { objectAt } from '../shared/is-record.ts';
import { ConfigError, type Mistake, suggest } from '../shared/mistakes.ts';
import { readSource, type Source } from '../shared/yaml-source.ts';
import { type GatewayFile, gatewayFileAt } from './gateway/gateway-file.ts';
import { checkHosts } from './gateway/hosts.ts';
import { checkSessions } from './gateway/session-checks.ts';
import { checkTls } from './gateway/tls.ts';
import { checkShape } from './issues.ts';
import { type Environment, localUrl } from './settings.ts';
import { type AddressPath, withOrigins } from './upstreams/address-paths.ts';
import type { Breaking } from './upstreams/breaking.ts';
import { checkCredentials } from './upstreams/credential-checks.ts';
import { checkOwnAddresses } from './upstreams/own-address.ts';
import { checkServers, withServers } from './upstreams/servers.ts';
import { type UpstreamEntry, upstreamsFile } from './upstreams/upstreams-file.ts';
import { usableDecisions, usableEntries } from './upstreams/usable-entries.ts';

interface Sources {
  readonly gateway: Source;
  readonly upstreams: Source;
  readonly limits: Source;
}

export interface Config {
  readonly gateway: GatewayFile;
  /** The upstreams by the names of their entries; other servers of an entry are called `entry@host`. */
  readonly upstreams: Readonly<Record<string, UpstreamEntry & AddressPath>>;
  /** Accepted breaks of published contracts. */
  readonly breaking: Breaking;
  readonly limits: LimitsFile;
  /** The source files, to locate mistakes that are found later (in contracts, in cross references). */
  readonly sources: Sources;
}

/** The result of loading files that may have mistakes. Broken parts are left out; the rest is used to find other mistakes. */
export interface ConfigDraft {
  readonly gateway: GatewayFile | undefined;
  /** The well-formed entries. */
  readonly upstreams: Readonly<Record<string, UpstreamEntry & AddressPath>>;
  /** The accepted breaking changes; undefined if one may be missing because of a mistake. */
  readonly breaking: Breaking | undefined;
  readonly limits: LimitsFile | undefined;
  readonly sources: Sources;
  /** Names as written, even if their entries have mistakes. */
  readonly names: {
    readonly upstreams: readonly string[];
    readonly limits: readonly string[];
    readonly operations: readonly string[];
  };
}

/** Settings of an entry that an entry with `live: gateway:` or `live: session:` cannot have. */
const BACKEND_MEMBERS = [
  ...['test', 'servers', 'credential', 'basicForClients', 'authorization', 'requests', 'answers', 'tunnels'],
  ...['security', 'public', 'operationNames', 'sendCaller'],
] as const;

const FILE_NAMES = ['gateway.yaml', 'upstreams.yaml', 'limits.yaml'] as const;

export function configFiles(directory: string): string[] {
  return FILE_NAMES.map((name) => join(directory, name));
}

/** Loads the three files of a configuration directory, optionally with another limits file. Pushes mistakes. */
export function loadConfig(
  directory: string,
  environment: Environment,
  mistakes: Mistake[],
  limitsPath = join(directory, 'limits.yaml'),
): ConfigDraft {
  for (const file of strayFiles(directory)) {
    mistakes.push({
      file: shownPath(join(directory, file)),
      reason: 'no configuration file has this name, so it would not be read.',
      remedy: suggest(file, FILE_NAMES),
    });
  }
  const read = (file: string) => readSource(join(directory, file), mistakes, environment);
  const sources = {
    gateway: read('gateway.yaml'),
    upstreams: read('upstreams.yaml'),
    limits: readSource(limitsPath, mistakes, environment),
  };
  const gateway = checkShape(sources.gateway, gatewayFileAt(localUrl(environment, hasTls(sources.gateway))), mistakes);
  const upstreamsRead = checkShape(sources.upstreams, upstreamsFile, mistakes);
  const limits = checkShape(sources.limits, limitsFile, mistakes);
  const draft = {
    gateway,
    upstreams: withOrigins(upstreamsRead?.upstreams ?? usableEntries(sources.upstreams), sources.upstreams, mistakes),
    breaking: upstreamsRead?.breaking ?? usableDecisions(sources.upstreams),
    limits,
    sources,
    names: {
      upstreams: namesIn(sources.upstreams, 'upstreams'),
      limits: namesIn(sources.limits, 'extra'),
      operations: namesIn(sources.limits, 'operations'),
    },
  };
  checkNames(draft, mistakes);
  checkServers(draft.upstreams, sources.upstreams, mistakes);
  checkOwnAddresses(draft.upstreams, sources.upstreams, environment, mistakes);
  checkExamples(draft, mistakes);
  checkOwnContract(draft, mistakes);
  checkIssuers(draft, mistakes);
  checkSessions(draft, mistakes);
  checkBuffers(draft, mistakes);
  if (gateway) {
    checkHosts(gateway.hosts, gateway.publicUrl, sources.gateway, mistakes);
    checkTls(gateway.tls, gateway.publicUrl, sources.gateway, mistakes);
  }
  return deepFreeze(draft);
}

/** Returns the draft as a configuration with the other servers of its upstreams; undefined if a part is missing. */
export function completeConfig({ gateway, upstreams, breaking, limits, sources }: ConfigDraft): Config | undefined {
  if (gateway === undefined || breaking === undefined || limits === undefined) return undefined;
  return Object.freeze({ gateway, upstreams: deepFreeze(withServers(upstreams)), breaking, limits, sources });
}

/**
 * Returns files such as `.yml` or `.json` with an unknown name, which an operator may expect to be read. Skips hidden files, which
 * editors and volumes leave behind.
 */
function strayFiles(directory: string): string[] {
  return namesBelow(directory).filter(
    (file) => /^[^.].*\.(ya?ml|json)$/.test(file) && !(FILE_NAMES as readonly string[]).includes(file),
  );
}

function namesBelow(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = { ENOENT: 'does not exist', ENOTDIR: 'is a file' };
    const reason = `the configuration directory ${reasons[code ?? ''] ?? `cannot be read (${code})`}.`;
    throw new ConfigError([{ file: shownPath(directory), reason, remedy: 'Create it, or correct GATEWAY_CONFIG.' }]);
  }
}

function namesIn({ value }: Source, key: string): string[] {
  return Object.keys(objectAt(value, key));
}

/** Checks names in one file that must exist in another file. Operation ids are checked later, with the contracts. */
function checkNames({ upstreams, sources, names }: ConfigDraft, mistakes: Mistake[]): void {
  const unknownLimit = (source: Source, path: readonly string[], name: unknown) => {
    // An unreadable file and a name that is not text are already reported.
    if (typeof name !== 'string' || names.limits.includes(name) || sources.limits.value === undefined) return;
    const reason = `there is no limit "${name}" under extra in limits.yaml.`;
    mistakes.push(source.mistakeAt(path, reason, suggest(name, names.limits)));
  };
  const operations = objectAt(sources.limits.value, 'operations');
  for (const id of names.operations)
    unknownLimit(sources.limits, ['operations', id, 'extra'], objectAt(operations, id).extra);
  for (const reserved of ['organization', 'key', 'person']) {
    if (!names.limits.includes(reserved)) continue;
    const reason = `"${reserved}" is reserved for the limit of the tier.`;
    mistakes.push(sources.limits.mistakeAtKey(['extra', reserved], reason, 'Choose another name for this limit.'));
  }
  for (const [name, entry] of Object.entries(upstreams)) {
    unknownLimit(sources.upstreams, ['upstreams', name, 'limit'], entry.limit);
    checkCredentials(name, entry, sources.upstreams, mistakes);
    if (!entry.public || !entry.security) continue;
    const reason = 'an upstream is either public or secured.';
    mistakes.push(sources.upstreams.mistakeAtKey(['upstreams', name, 'public'], reason, 'Remove public or security.'));
  }
}

/** Refuses tunnels of an upstream without a service, because no contract could answer for a tunnel. */
function checkExamples({ upstreams, sources }: ConfigDraft, mistakes: Mistake[]): void {
  for (const [name, { live = [], tunnels = [] }] of Object.entries(upstreams)) {
    if (tunnels.length === 0 || !live.some((address) => address.startsWith('examples:'))) continue;
    const reason = 'a tunnel has no contract that could answer for it.';
    const remedy = 'Set live to the address of a service, or remove the tunnels.';
    mistakes.push(sources.upstreams.mistakeAtKey(['upstreams', name, 'tunnels'], reason, remedy));
  }
}

/** Refuses settings that change requests or callers of the gateway's own contract, because its operations rely on the contract. */
function checkOwnContract({ sources }: ConfigDraft, mistakes: Mistake[]): void {
  const entries = objectAt(sources.upstreams.value, 'upstreams');
  for (const name of Object.keys(entries)) {
    const entry = objectAt(entries, name);
    const at = (key: string, reason: string, remedy: string) =>
      mistakes.push(sources.upstreams.mistakeAtKey(['upstreams', name, key], reason, remedy));
    const own = [entry.live].flat().find((address) => address === 'gateway:' || address === 'session:');
    if (own === undefined && [entry.test].flat().includes('gateway:'))
      at('test', 'test keys cannot administer the gateway.', 'Write gateway: as live, without test.');
    if (own === undefined && [entry.test].flat().includes('session:'))
      at('test', 'there are no test sessions.', 'Write session: as live, without test.');
    if (own === undefined) continue;
    for (const key of BACKEND_MEMBERS) {
      if (Object.hasOwn(entry, key))
        at(key, `"${key}" has no meaning with live: ${own}, which stands for no service.`, `Remove ${key}.`);
    }
  }
}

/** Refuses two issuers with the same `iss`, because a token names its issuer only by `iss`. */
function checkIssuers({ gateway, sources }: ConfigDraft, mistakes: Mistake[]): void {
  const nameOf = new Map<string, string>();
  for (const [name, { issuer }] of Object.entries(gateway?.issuers ?? {})) {
    const other = nameOf.get(issuer);
    nameOf.set(issuer, other ?? name);
    if (other === undefined) continue;
    const reason = `"${issuer}" is the issuer of "${other}" already.`;
    mistakes.push(sources.gateway.mistakeAt(['issuers', name, 'issuer'], reason, 'Keep one of the two entries.'));
  }
}

/** Refuses a total buffer that is smaller than the longest body. */
function checkBuffers({ gateway, sources }: ConfigDraft, mistakes: Mistake[]): void {
  if (gateway === undefined || gateway.overload.bufferedBytesMax >= gateway.limits.bodyBytesMax) return;
  const reason = `one body may have ${gateway.limits.bodyBytesMax} bytes (limits.bodyBytesMax), but all buffered bodies together fewer.`;
  const remedy = `Set overload.bufferedBytesMax to ${gateway.limits.bodyBytesMax} at least; several times as much is better.`;
  mistakes.push(sources.gateway.mistakeAt(['overload', 'bufferedBytesMax'], reason, remedy));
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

/** Whether clients reach the gateway itself by HTTPS, so that the default of its address begins with https. */
function hasTls({ value }: Source): boolean {
  return (value as { readonly tls?: unknown } | null | undefined)?.tls != null;
}
