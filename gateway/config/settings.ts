// Reads the settings from environment variables. No other file knows the names of the variables.

import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseRedisUrl } from '../redis/url.ts';
import { ConfigError, closest, type Mistake } from '../shared/mistakes.ts';
import type { Source } from '../shared/yaml-source.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

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
  /** The number of serving processes. If there are several, another process holds the listeners and starts them. */
  readonly workers: number;
  /** Whether stores may be upgraded although earlier versions cannot open them afterwards. `start --accept-one-way` sets it. */
  readonly acceptOneWay: boolean;
}

type Complain = (variable: string, reason: string, remedy: string) => void;

const PROJECT_FOLDER = fileURLToPath(new URL('../..', import.meta.url));
export const PORT_DEFAULTS = { PORT: 8080, ADMIN_PORT: 9090 };
const WORKERS_MAX = 64;
/** One or more labels. Underscores are allowed, because container networks use them. */
const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/;
const VARIABLES = [
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
/**
 * Matches names that other programs hardly use. Only these are reported as misspelt, because `HOME`, for example, is not a misspelt `HOST`.
 */
const PREFIX = /^(ADMIN|GATEWAY|REDIS|SECRET|WORKER)/;
const TYPING_ERRORS_MAX = 2;

/** Returns the variable that a key of a file stands for, such as REDIS_URL for `redis`; undefined for another key. */
export function variableFor(key: string): string | undefined {
  const word = key.replace(/[_-]/g, '').toLowerCase().replace('listen', 'port');
  const meant = [word, `gateway${word}`, `${word}url`, `${word}dir`];
  return VARIABLES.find((name) => meant.includes(name.replace('_', '').toLowerCase()));
}

/** Returns the settings from the environment, as docs/config.md lists them. Throws ConfigError. */
export function loadSettings(environment: Environment): Settings {
  const { settings, mistakes } = readSettings(environment);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return settings;
}

/** Returns the settings and their mistakes. A setting with a mistake has its default, because the other files are checked, too. */
export function readSettings(environment: Environment): {
  readonly settings: Settings;
  readonly mistakes: readonly Mistake[];
} {
  const mistakes: Mistake[] = [];
  const complain: Complain = (place, reason, remedy) => mistakes.push({ file: 'environment', place, reason, remedy });
  const port = (variable: string, fallback: number) => {
    const text = environment[variable];
    if (text === undefined || text === '') return fallback;
    if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
    complain(
      variable,
      `${JSON.stringify(text)} is not a port number.`,
      `Set ${variable} to 0–65535, or unset it for ${fallback}.`,
    );
    return fallback;
  };
  const host = (variable: string, fallback: string) => {
    const text = environment[variable] || fallback;
    if (isIP(text) !== 0 || HOST_NAME.test(text)) return text;
    complain(
      variable,
      `${JSON.stringify(text)} is not an IP address or a host name.`,
      `Write it without scheme, port and brackets, or unset ${variable} for ${fallback}.`,
    );
    return fallback;
  };
  const redisUrl = environment.REDIS_URL || undefined;
  const workers = workersOf(environment.WORKERS || '1', redisUrl, complain);
  if (redisUrl !== undefined && parseRedisUrl(redisUrl) === undefined) {
    complain(
      'REDIS_URL',
      'this is not the address of a Redis.',
      'Write redis://host:6379, redis+sentinel://host:26379,host:26379/master or redis+cluster://host:6379,host:6379, or unset REDIS_URL for limits counted in the process.',
    );
  }
  const settings = {
    host: host('HOST', '0.0.0.0'),
    port: port('PORT', PORT_DEFAULTS.PORT),
    adminHost: host('ADMIN_HOST', '127.0.0.1'),
    adminPort: port('ADMIN_PORT', PORT_DEFAULTS.ADMIN_PORT),
    configDirectory: resolve(environment.GATEWAY_CONFIG || join(PROJECT_FOLDER, 'config')),
    contractsDirectory: resolve(environment.GATEWAY_CONTRACTS || join(PROJECT_FOLDER, 'openapi')),
    dataDirectory: resolve(environment.GATEWAY_DATA || join(PROJECT_FOLDER, 'data')),
    redisUrl,
    secretsDirectory: environment.SECRETS_DIR ? resolve(environment.SECRETS_DIR) : undefined,
    workers,
    acceptOneWay: false,
  };
  return { settings: Object.freeze(settings), mistakes };
}

/** Returns a sentence for each variable that looks like a misspelt setting. */
export function misspeltVariables(environment: Environment): string[] {
  const unread = Object.keys(environment).filter(
    (name) => PREFIX.test(name) && !(VARIABLES as readonly string[]).includes(name),
  );
  return unread.flatMap((name) => {
    const likely = closest(name, VARIABLES, TYPING_ERRORS_MAX);
    return likely === undefined ? [] : [`environment: ${name} is not a setting. Did you mean ${likely}?`];
  });
}

/** Refuses several workers without Redis, because they need a shared store to count exactly. */
function workersOf(text: string, redisUrl: string | undefined, complain: Complain): number {
  const workers = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  const isPossible = workers >= 1 && workers <= WORKERS_MAX;
  if (!isPossible) {
    complain(
      'WORKERS',
      `${JSON.stringify(text)} is not a number of workers.`,
      `Set WORKERS to 1–${WORKERS_MAX}, or unset it for 1.`,
    );
  } else if (workers > 1 && redisUrl === undefined) {
    complain(
      'WORKERS',
      `${workers} workers need a store that they share.`,
      'Set REDIS_URL, or unset WORKERS for one worker.',
    );
  }
  return workers;
}

/** Returns the address of the gateway for clients on its machine. Port 0 means any free port, which is not known yet. */
export function localUrl({ PORT }: Environment, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://localhost:${Number(PORT) || PORT_DEFAULTS.PORT}`;
}

interface ReplicaSettings {
  readonly gateway: { readonly idempotency: { readonly replicas: number } };
  readonly sources: { readonly gateway: Pick<Source, 'mistakeAt'> };
}

/** Returns a mistake if the configuration asks for replicas, but there is no Redis. */
export function replicaMistakes(
  { gateway, sources }: ReplicaSettings,
  { redisUrl }: Pick<Settings, 'redisUrl'>,
): Mistake[] {
  const { replicas } = gateway.idempotency;
  if (replicas === 0 || redisUrl !== undefined) return [];
  const reason = `${replicas} of the replicas of Redis shall have each key, and there is no Redis.`;
  return [sources.gateway.mistakeAt(['idempotency', 'replicas'], reason, 'Set REDIS_URL, or remove this setting.')];
}
