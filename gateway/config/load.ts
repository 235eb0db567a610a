// Reads config/*.yaml and the environment, reports all mistakes at once and freezes the result. The only file that knows the names of
// environment variables.

import { readdirSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError, closest, type Mistake, suggest } from '../config-errors.ts';
import { parseRedisUrl } from '../redis/url.ts';
import { readSource, type Source, shownPath } from '../shared/yaml-source.ts';
import { type AddressPath, withOrigins } from './address-paths.ts';
import { type GatewayFile, gatewayFileAt } from './gateway-file.ts';
import { checkHosts } from './hosts.ts';
import { checkShape } from './issues.ts';
import { type LimitsFile, limitsFile } from './limits-file.ts';
import { type Breaking, type UpstreamEntry, upstreamsFile } from './schema.ts';
import { checkServers, withServers } from './servers.ts';
import { checkTls } from './tls.ts';
import { blockIn, usableEntries } from './usable-entries.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly configDirectory: string;
  readonly contractsDirectory: string;
  readonly dataDirectory: string;
  readonly redisUrl: string | undefined;
  readonly secretsDirectory: string | undefined;
  /** Number of serving processes. If more than one, a further process holds the listeners and starts them. */
  readonly workers: number;
}

interface Sources {
  readonly gateway: Source;
  readonly upstreams: Source;
  readonly limits: Source;
}

export interface Config {
  readonly gateway: GatewayFile;
  /** By the names of entries, and by `entry@host` for the further servers of an entry. */
  readonly upstreams: Readonly<Record<string, UpstreamEntry & AddressPath>>;
  /** Accepted breaks of published contracts. */
  readonly breaking: Breaking;
  readonly limits: LimitsFile;
  /** The source files, to locate mistakes that are found later (in contracts, in cross references). */
  readonly sources: Sources;
}

/** The result of loading files that may have mistakes. Broken parts are absent; the rest is used to look for further mistakes. */
export interface ConfigDraft {
  readonly gateway: GatewayFile | undefined;
  /** The well-formed entries. */
  readonly upstreams: Readonly<Record<string, UpstreamEntry & AddressPath>>;
  readonly breaking: Breaking;
  readonly limits: LimitsFile | undefined;
  readonly sources: Sources;
  /** Names as written, even if their entries have mistakes. */
  readonly names: {
    readonly upstreams: readonly string[];
    readonly limits: readonly string[];
    readonly operations: readonly string[];
  };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const PORT_DEFAULT = 8080;
const WORKERS_MAX = 64;
/** One or more labels; underscores, because container networks use them. */
const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/;
const variables = [
  'HOST',
  'PORT',
  'ADMIN_HOST',
  'ADMIN_PORT',
  'GATEWAY_CONFIG',
  'GATEWAY_CONTRACTS',
  'GATEWAY_DATA',
  'REDIS_URL',
  'SECRETS_DIR',
  'WORKERS',
] as const;
/** Begins of names that are hardly those of other programs: `HOME` is not a misspelt `HOST`. */
const PREFIX = /^(ADMIN|GATEWAY|REDIS|SECRET|WORKER)/;
const TYPING_ERRORS_MAX = 2;
const fileNames = ['gateway.yaml', 'upstreams.yaml', 'limits.yaml'] as const;

/** Returns the settings from the environment, as docs/config.md lists them. Throws ConfigError. */
export function loadSettings(environment: Environment): Settings {
  const { settings, mistakes } = readSettings(environment);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return settings;
}

/** Returns the settings with their mistakes. A setting with a mistake has its default, so that the other files can be checked too. */
export function readSettings(environment: Environment): {
  readonly settings: Settings;
  readonly mistakes: readonly Mistake[];
} {
  const mistakes: Mistake[] = [];
  const port = (variable: string, fallback: number) => {
    const text = environment[variable];
    if (text === undefined || text === '') return fallback;
    if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
    mistakes.push({
      file: 'environment',
      place: variable,
      reason: `${JSON.stringify(text)} is not a port number.`,
      remedy: `Set ${variable} to 0–65535, or unset it for ${fallback}.`,
    });
    return fallback;
  };
  const host = (variable: string, fallback: string) => {
    const text = environment[variable] || fallback;
    if (isIP(text) !== 0 || HOST_NAME.test(text)) return text;
    mistakes.push({
      file: 'environment',
      place: variable,
      reason: `${JSON.stringify(text)} is not an IP address or a host name.`,
      remedy: `Write it without scheme, port and brackets, or unset ${variable} for ${fallback}.`,
    });
    return fallback;
  };
  const redisUrl = environment.REDIS_URL || undefined;
  const workers = workersOf(environment.WORKERS || '1', redisUrl, mistakes);
  if (redisUrl !== undefined && parseRedisUrl(redisUrl) === undefined) {
    mistakes.push({
      file: 'environment',
      place: 'REDIS_URL',
      reason: 'this is not the address of a Redis.',
      remedy:
        'Write redis://host:6379, redis+sentinel://host:26379,host:26379/master or redis+cluster://host:6379,host:6379, or unset REDIS_URL for limits counted in the process.',
    });
  }
  const settings = {
    host: host('HOST', '0.0.0.0'),
    port: port('PORT', PORT_DEFAULT),
    adminHost: host('ADMIN_HOST', '127.0.0.1'),
    adminPort: port('ADMIN_PORT', 9090),
    configDirectory: resolve(environment.GATEWAY_CONFIG || join(root, 'config')),
    contractsDirectory: resolve(environment.GATEWAY_CONTRACTS || join(root, 'openapi')),
    dataDirectory: resolve(environment.GATEWAY_DATA || join(root, 'data')),
    redisUrl,
    secretsDirectory: environment.SECRETS_DIR ? resolve(environment.SECRETS_DIR) : undefined,
    workers,
  };
  return { settings: Object.freeze(settings), mistakes };
}

/** Returns a sentence for each variable that is not read and whose name is almost that of a setting. */
export function misspeltVariables(environment: Environment): string[] {
  const unread = Object.keys(environment).filter(
    (name) => PREFIX.test(name) && !(variables as readonly string[]).includes(name),
  );
  return unread.flatMap((name) => {
    const likely = closest(name, variables, TYPING_ERRORS_MAX);
    return likely === undefined ? [] : [`environment: ${name} is not a setting. Did you mean ${likely}?`];
  });
}

/** Refuses several workers without Redis, because they need a shared store to count exactly. */
function workersOf(text: string, redisUrl: string | undefined, mistakes: Mistake[]): number {
  const workers = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  const isPossible = workers >= 1 && workers <= WORKERS_MAX;
  if (!isPossible) {
    mistakes.push({
      file: 'environment',
      place: 'WORKERS',
      reason: `${JSON.stringify(text)} is not a number of workers.`,
      remedy: `Set WORKERS to 1–${WORKERS_MAX}, or unset it for 1.`,
    });
  } else if (workers > 1 && redisUrl === undefined) {
    mistakes.push({
      file: 'environment',
      place: 'WORKERS',
      reason: `${workers} workers need a store that they share.`,
      remedy: 'Set REDIS_URL, or unset WORKERS for one worker.',
    });
  }
  return workers;
}

export function configFiles(directory: string): string[] {
  return fileNames.map((name) => join(directory, name));
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
      remedy: suggest(file, fileNames),
    });
  }
  const read = (file: string) => readSource(join(directory, file), mistakes, environment);
  const sources = {
    gateway: read('gateway.yaml'),
    upstreams: read('upstreams.yaml'),
    limits: readSource(limitsPath, mistakes, environment),
  };
  const gateway = checkShape(sources.gateway, gatewayFileAt(localUrl(environment)), mistakes);
  const upstreamsRead = checkShape(sources.upstreams, upstreamsFile, mistakes);
  const limits = checkShape(sources.limits, limitsFile, mistakes);
  const draft = {
    gateway,
    upstreams: withOrigins(upstreamsRead?.upstreams ?? usableEntries(sources.upstreams), sources.upstreams, mistakes),
    breaking: upstreamsRead?.breaking ?? [],
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
  checkExamples(draft, mistakes);
  checkIssuers(draft, mistakes);
  checkBuffers(draft, mistakes);
  if (gateway) {
    checkHosts(gateway.hosts, gateway.publicUrl, sources.gateway, mistakes);
    checkTls(gateway.tls, gateway.publicUrl, sources.gateway, mistakes);
  }
  return deepFreeze(draft);
}

/** The address of the gateway for clients on its own machine. Port 0 stands for any free port, which is not known yet. */
function localUrl({ PORT }: Environment): string {
  return `http://localhost:${Number(PORT) || PORT_DEFAULT}`;
}

/** Returns the draft as a configuration with the further servers of its upstreams, or undefined if a part is missing. */
export function completed({ gateway, upstreams, breaking, limits, sources }: ConfigDraft): Config | undefined {
  if (gateway === undefined || limits === undefined) return undefined;
  return Object.freeze({ gateway, upstreams: deepFreeze(withServers(upstreams)), breaking, limits, sources });
}

/**
 * Returns files such as `.yml` or `.json` with an unknown name, which an operator may expect to be read. Skips hidden files, which
 * editors and volumes leave behind.
 */
function strayFiles(directory: string): string[] {
  return namesBelow(directory).filter(
    (file) => /^[^.].*\.(ya?ml|json)$/.test(file) && !(fileNames as readonly string[]).includes(file),
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
  return Object.keys(blockIn(value, key));
}

/** Checks names in one file that must exist in another. Operation ids are checked later, with the contracts. */
function checkNames({ upstreams, sources, names }: ConfigDraft, mistakes: Mistake[]): void {
  const unknownLimit = (source: Source, path: readonly string[], name: unknown) => {
    // An unreadable file and a name that is not text are already reported.
    if (typeof name !== 'string' || names.limits.includes(name) || sources.limits.value === undefined) return;
    const reason = `there is no limit "${name}" under extra in limits.yaml.`;
    mistakes.push(source.mistakeAt(path, reason, suggest(name, names.limits)));
  };
  const operations = blockIn(sources.limits.value, 'operations');
  for (const id of names.operations)
    unknownLimit(sources.limits, ['operations', id, 'extra'], blockIn(operations, id).extra);
  for (const reserved of ['organization', 'key']) {
    if (!names.limits.includes(reserved)) continue;
    const reason = `"${reserved}" is reserved for the limit of the tier.`;
    mistakes.push(sources.limits.mistakeAtKey(['extra', reserved], reason, 'Choose another name for this limit.'));
  }
  const entries = blockIn(sources.upstreams.value, 'upstreams');
  for (const [name, entry] of Object.entries(upstreams)) {
    unknownLimit(sources.upstreams, ['upstreams', name, 'limit'], entry.limit);
    if (entry.basicForClients && blockIn(blockIn(entries, name), 'credential').basic === undefined) {
      const reason = 'the upstream has no user name and password that clients could present.';
      const remedy = 'Add credential: { basic: { user, secret } }, or remove basicForClients.';
      mistakes.push(sources.upstreams.mistakeAtKey(['upstreams', name, 'basicForClients'], reason, remedy));
    }
    if (!entry.public || !entry.security) continue;
    const reason = 'an upstream is either public or secured.';
    mistakes.push(sources.upstreams.mistakeAtKey(['upstreams', name, 'public'], reason, 'Remove public or security.'));
  }
}

/** Refuses tunnels of an upstream without a service: they have no contract that could answer. */
function checkExamples({ upstreams, sources }: ConfigDraft, mistakes: Mistake[]): void {
  for (const [name, { live = [], tunnels = [] }] of Object.entries(upstreams)) {
    if (tunnels.length === 0 || !live.some((address) => address.startsWith('examples:'))) continue;
    const reason = 'a tunnel has no contract that could answer for it.';
    const remedy = 'Set live to the address of a service, or remove the tunnels.';
    mistakes.push(sources.upstreams.mistakeAtKey(['upstreams', name, 'tunnels'], reason, remedy));
  }
}

/** Refuses two issuers with the same `iss`, because a token names its issuer by `iss` alone. */
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

/** Refuses a total buffer smaller than one body, because the longest bodies could then never be sent. */
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
