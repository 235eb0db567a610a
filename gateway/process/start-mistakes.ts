// Collects, for `start` and `check`, all mistakes that prevent a start: in settings, configuration files, contracts, secrets, listen
// addresses, and the data directory. commands/check-machine.ts checks the state of this machine, such as ports in use.

import { existsSync, statfsSync, statSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { dirname } from 'node:path';
import { signerProblem } from '../auth/assertions/assertion-keys.ts';
import type { Config } from '../config/load.ts';
import { parseAssertionKeys } from '../config/secrets/assertion-keys.ts';
import { operatorTokensIn } from '../config/secrets/operator-tokens.ts';
import { type OwnSecret, ownSecretProblem, type Secrets } from '../config/secrets.ts';
import { readSettings, replicaMistakes, type Settings } from '../config/settings.ts';
import { type Configuration, loadConfiguration } from '../configuration.ts';
import { shownPath } from '../shared/file-text.ts';
import { ConfigError, type Mistake } from '../shared/mistakes.ts';
import { liesOnSandbox } from '../upstream/sandbox/sandbox.ts';
import { isSimulated } from '../upstream/targets/addresses.ts';
import { checkSecrets } from '../wiring/named-secrets.ts';
import { oneWayUpgrades } from './one-way.ts';

interface StartCheckOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** See `loadConfiguration`. */
  readonly purpose: 'check' | 'serve';
  readonly ignoresManifest?: boolean;
  openSecrets(settings: Settings): Secrets;
  now(): number;
}

interface StartFacts {
  readonly settings: Settings;
  readonly secrets: Secrets;
  /** Undefined if it has mistakes. */
  readonly configuration: Configuration | undefined;
  readonly mistakes: readonly Mistake[];
  /** Warnings of a configuration with mistakes, about the same files. */
  readonly warnings: readonly Mistake[];
  /** Secrets that do not exist on this machine. A start refuses them too. */
  readonly missing: readonly Mistake[];
  /** Upgrades of stores that cannot be undone. A start refuses them unless they are accepted. */
  readonly oneWay: readonly Mistake[];
}

/** Loads and checks everything that a start needs. Does not stop at the first mistake. */
export async function checkStart(options: StartCheckOptions): Promise<StartFacts> {
  const { environment, purpose, ignoresManifest, openSecrets, now } = options;
  const { settings, mistakes: inSettings } = readSettings(environment);
  const secrets = openSecrets(settings);
  const {
    configuration,
    mistakes: inFiles,
    warnings,
  } = await load(settings, environment, purpose, undefined, ignoresManifest);
  const named = configuration && checkSecrets(configuration, secrets.read, settings.redisUrl !== undefined);
  const mistakes = [
    ...inSettings,
    ...inFiles,
    ...(named?.mistakes ?? []),
    ...checkOwnSecrets(configuration?.config, secrets.read, now()),
    ...(configuration ? checkSandboxCredentials(configuration.config, secrets.read) : []),
    ...checkPorts(configuration?.config, settings),
    ...(configuration ? replicaMistakes(configuration.config, settings) : []),
    ...checkDataDirectory(settings.dataDirectory),
  ];
  return {
    settings,
    secrets,
    configuration,
    mistakes,
    warnings,
    missing: named?.missing ?? [],
    oneWay: oneWayUpgrades(settings),
  };
}

async function load(...given: Parameters<typeof loadConfiguration>) {
  try {
    return { configuration: await loadConfiguration(...given), mistakes: [], warnings: [] };
  } catch (error) {
    if (error instanceof ConfigError) {
      const { mistakes, warnings } = error;
      return { configuration: undefined, mistakes, warnings };
    }
    throw error;
  }
}

const SAME_TOKEN = 'The secrets entries viewer_token and admin_token are the same, so viewers could act.';

/** Checks the gateway's own secrets. The gateway creates missing secrets, so only values that cannot be used are mistakes. */
function checkOwnSecrets(config: Config | undefined, read: Secrets['read'], nowMs: number): Mistake[] {
  const entries: OwnSecret[] = ['key_pepper', 'assertion_keys', 'admin_token', 'viewer_token', 'operator_tokens'];
  if (Object.values(config?.upstreams ?? {}).some(liesOnSandbox)) entries.push('cursor_secret');
  return entries.flatMap((entry) => {
    const problem =
      problemOf(entry, read, (value) => ownSecretProblemNow(entry, value, nowMs)) ??
      (entry === 'viewer_token' ? sameTokenProblem(read) : undefined) ??
      (entry === 'operator_tokens' ? sharedTokenProblem(read) : undefined);
    if (problem === undefined) return [];
    const remedy = `Correct the file SECRETS_DIR/${entry} or the variable ${entry.toUpperCase()}.`;
    return [{ file: 'secrets', place: entry, reason: problem, remedy }];
  });
}

/**
 * Returns the problem if the token of viewers equals the token of operators, so that viewers could act as operators. Ignores values that
 * cannot be read, because another check reports them.
 */
function sameTokenProblem(read: Secrets['read']): string | undefined {
  const isSame = problemOf('viewer_token', read, (viewer) =>
    problemOf('admin_token', read, (admin) => (admin === viewer ? SAME_TOKEN : undefined)),
  );
  return isSame === SAME_TOKEN ? SAME_TOKEN : undefined;
}

const SHARED_TOKEN = 'An operator in the secrets entry operator_tokens has the token of admin_token or viewer_token.';

/**
 * Returns the problem if an operator of `operator_tokens` has the token of `admin_token` or `viewer_token`, so that the audit log could not
 * tell who acted. Ignores values that cannot be read, because another check reports them.
 */
function sharedTokenProblem(read: Secrets['read']): string | undefined {
  const named = problemOf('operator_tokens', read, (text) => text);
  const found = named === undefined ? [] : operatorTokensIn(named);
  if (typeof found === 'string') return undefined;
  const others = ['admin_token', 'viewer_token'].map((entry) => problemOf(entry, read, (token) => token));
  return found.some(({ token }) => others.includes(token)) ? SHARED_TOKEN : undefined;
}

/** Returns why a value cannot be used now; undefined for a usable value. */
export function ownSecretProblemNow(entry: OwnSecret, value: string, nowMs: number): string | undefined {
  const problem = ownSecretProblem(entry, value);
  if (problem !== undefined || entry !== 'assertion_keys') return problem;
  return signerProblem(parseAssertionKeys(value), nowMs);
}

/** Checks the credentials of simulated upstreams. Missing credentials are not mistakes, because a start creates them. */
function checkSandboxCredentials({ upstreams, sources }: Config, read: Secrets['read']): Mistake[] {
  return Object.entries(upstreams).flatMap(([name, entry]) => {
    if (entry.credential === undefined || !isSimulated(entry)) return [];
    const { kind, secret } = entry.credential;
    const problem = problemOf(secret, read, () => undefined);
    if (problem === undefined) return [];
    const path = ['upstreams', name, 'credential', kind, 'secret'];
    return [sources.upstreams.mistakeAt(path, problem, `Correct or remove the file SECRETS_DIR/${secret}.`)];
  });
}

function problemOf(
  entry: string,
  read: Secrets['read'],
  problemOfValue: (value: string) => string | undefined,
): string | undefined {
  try {
    const value = read(entry);
    return value === undefined ? undefined : problemOfValue(value);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Refuses two listeners on one port. Port 0 means any free port. */
function checkPorts(config: Config | undefined, { host, port, adminHost, adminPort }: Settings): Mistake[] {
  const plain = config?.gateway.tls?.plain?.port ?? 0;
  const mistakes: Mistake[] = [];
  if (adminPort !== 0 && adminPort === port && overlap(host, adminHost)) {
    const reason = `the public listener has the port ${port} already.`;
    mistakes.push({
      file: 'environment',
      place: 'ADMIN_PORT',
      reason,
      remedy: 'Set PORT or ADMIN_PORT to another one.',
    });
  }
  const taken = plain === port ? 'PORT' : plain === adminPort && overlap(host, adminHost) ? 'ADMIN_PORT' : undefined;
  if (config && plain !== 0 && taken !== undefined) {
    const reason = `${taken} is ${plain} too, and one port cannot have two listeners.`;
    mistakes.push(config.sources.gateway.mistakeAt(['tls', 'plain', 'port'], reason, 'Choose another port.'));
  }
  return mistakes;
}

/**
 * Whether two listeners on one port would certainly collide. Two different host names may stand for different addresses, so they are not
 * treated as colliding.
 */
function overlap(one: string, other: string): boolean {
  const isWithin = (all: string, host: string) => all === '::' || (all === '0.0.0.0' && isIPv4(host));
  return one === other || isWithin(one, other) || isWithin(other, one);
}

/**
 * The file system types of /proc and /sys (statfs(2)). A data directory there is refused, because Node would try without end to create it.
 */
const KERNEL_FILE_SYSTEMS: readonly number[] = [0x9fa0, 0x62656572];

/** Checks the data directory. A missing directory is not a mistake, because a start creates it. */
function checkDataDirectory(directory: string): Mistake[] {
  const nearest = nearestExisting(directory);
  const mistake = (reason: string, remedy: string) => [{ file: 'environment', place: 'GATEWAY_DATA', reason, remedy }];
  if (!statSync(nearest).isDirectory())
    return mistake(`${shownPath(nearest)} is not a directory.`, 'Name a directory, or remove it.');
  if (KERNEL_FILE_SYSTEMS.includes(statfsSync(nearest).type))
    return mistake(`${shownPath(nearest)} belongs to the kernel and holds no other files.`, 'Name another directory.');
  return [];
}

/** Returns the path, or the nearest parent directory that exists. */
export function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
