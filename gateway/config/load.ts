// Reads config/*.yaml and the environment, reports every mistake at once, freezes. The only file that knows variable names.

import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { ConfigError, type Mistake, suggest } from '../mistakes.ts';
import { type Path, readSource, type Source, shownPath } from '../source.ts';
import {
  type GatewayFile,
  gatewayFile,
  type LimitsFile,
  limitsFile,
  type UpstreamEntry,
  upstreamsFile,
} from './schema.ts';

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
}

export interface Config {
  readonly gateway: GatewayFile;
  readonly upstreams: Readonly<Record<string, UpstreamEntry>>;
  readonly limits: LimitsFile;
  /** Where names in the files can be pointed at, for mistakes found later (in contracts, in cross references). */
  readonly sources: { readonly gateway: Source; readonly upstreams: Source; readonly limits: Source };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const fileNames = ['gateway.yaml', 'upstreams.yaml', 'limits.yaml'] as const;

/** Variables of product page section 9. Throws ConfigError. */
export function loadSettings(environment: Environment): Settings {
  const mistakes: Mistake[] = [];
  const port = (variable: string, fallback: number) => {
    const text = environment[variable];
    if (text === undefined || text === '') return fallback;
    if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
    mistakes.push({
      file: 'environment',
      place: variable,
      reason: 'must be a port number.',
      remedy: `Set ${variable} to 0–65535.`,
    });
    return fallback;
  };
  const workers = environment.WORKERS;
  if (workers !== undefined && workers !== '' && workers !== '1') {
    mistakes.push({
      file: 'environment',
      place: 'WORKERS',
      reason: 'this version runs one worker.',
      remedy: 'Unset WORKERS, or start several gateways that share REDIS_URL behind a balancer.',
    });
  }
  const redisUrl = environment.REDIS_URL || undefined;
  if (redisUrl !== undefined && !/^rediss?:\/\/[^\s]+$/.test(redisUrl)) {
    mistakes.push({
      file: 'environment',
      place: 'REDIS_URL',
      reason: 'must be a redis:// or rediss:// address.',
      remedy: 'Write redis://host:6379, or unset REDIS_URL for limits counted in the process.',
    });
  }
  const settings = {
    host: environment.HOST || '0.0.0.0',
    port: port('PORT', 8080),
    adminHost: environment.ADMIN_HOST || '127.0.0.1',
    adminPort: port('ADMIN_PORT', 9090),
    configDirectory: resolve(environment.GATEWAY_CONFIG || join(root, 'config')),
    contractsDirectory: resolve(environment.GATEWAY_CONTRACTS || join(root, 'openapi')),
    dataDirectory: resolve(environment.GATEWAY_DATA || join(root, 'data')),
    redisUrl,
    secretsDirectory: environment.SECRETS_DIR ? resolve(environment.SECRETS_DIR) : undefined,
  };
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return Object.freeze(settings);
}

/** The three files of a configuration directory. Pushes mistakes; returns undefined when a file is unusable. */
export function loadConfig(directory: string, environment: Environment, mistakes: Mistake[]): Config | undefined {
  const shown = (file: string) => shownPath(join(directory, file));
  const read = (file: string) => readSource(join(directory, file), mistakes, environment);
  const before = mistakes.length;
  for (const file of strayFiles(directory)) {
    mistakes.push({
      file: shown(file),
      reason: 'no such configuration file is known.',
      remedy: suggest(file, fileNames),
    });
  }
  const sources = { gateway: read('gateway.yaml'), upstreams: read('upstreams.yaml'), limits: read('limits.yaml') };
  const gateway = checkShape(sources.gateway, gatewayFile, mistakes, {});
  const upstreams = checkShape(sources.upstreams, upstreamsFile, mistakes);
  const limits = checkShape(sources.limits, limitsFile, mistakes);
  if (!gateway || !upstreams || !limits) return undefined;
  checkNames(upstreams.upstreams, limits, sources, mistakes);
  if (mistakes.length > before) return undefined;
  return deepFreeze({ gateway, upstreams: upstreams.upstreams, limits, sources });
}

function strayFiles(directory: string): string[] {
  try {
    return readdirSync(directory).filter(
      (file) => /\.ya?ml$/.test(file) && !(fileNames as readonly string[]).includes(file),
    );
  } catch {
    return [];
  }
}

function checkShape<S extends z.ZodType>(
  source: Source,
  schema: S,
  mistakes: Mistake[],
  whenEmpty?: unknown,
): z.output<S> | undefined {
  if (source.value === undefined) return undefined;
  const result = schema.safeParse(source.value ?? whenEmpty, { reportInput: true });
  if (result.success) return result.data;
  for (const issue of result.error.issues) mistakes.push(...toMistakes(source, issue));
  return undefined;
}

function toMistakes(source: Source, issue: z.core.$ZodIssue): Mistake[] {
  const path = issue.path.filter((part): part is string | number => typeof part !== 'symbol');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      source.mistakeAtKey([...path, key], `the key "${key}" is not known here.`, 'Correct its spelling, or remove it.'),
    );
  }
  if (issue.code === 'invalid_key') {
    const why = issue.issues[0]?.message ?? 'the name is not valid';
    return [source.mistakeAtKey(path, `the name ${why}.`, 'Rename it.')];
  }
  if (issue.code === 'invalid_type' && issue.input === undefined) {
    return [source.mistakeAt(path, 'is missing.', `Add ${String(path.at(-1) ?? 'it')}.`)];
  }
  if (issue.code === 'invalid_value') {
    return [
      source.mistakeAt(
        path,
        `${shownInput(issue.input)} is not a possible value.`,
        `Use one of: ${issue.values.join(', ')}.`,
      ),
    ];
  }
  const expected =
    issue.code === 'invalid_type' && issue.message.startsWith('Invalid')
      ? `must be ${article(issue.expected)}`
      : issue.message;
  return [source.mistakeAt(path, `${expected}; it is ${shownInput(issue.input)}.`, 'Correct the value.')];
}

function article(expected: string): string {
  return expected === 'object' || expected === 'array'
    ? `an ${expected === 'object' ? 'object of keys and values' : 'array'}`
    : `a ${expected}`;
}

function shownInput(input: unknown): string {
  const text = JSON.stringify(input) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Names in one file that must exist in another. Operation ids are checked once the contracts are known. */
function checkNames(
  upstreams: Record<string, UpstreamEntry>,
  limits: LimitsFile,
  sources: Config['sources'],
  mistakes: Mistake[],
): void {
  const extra = Object.keys(limits.extra);
  for (const [id, entry] of Object.entries(limits.operations)) {
    if (entry.extra === undefined || extra.includes(entry.extra)) continue;
    const path: Path = ['operations', id, 'extra'];
    mistakes.push(
      sources.limits.mistakeAt(path, `there is no limit "${entry.extra}" under extra.`, suggest(entry.extra, extra)),
    );
  }
  for (const reserved of ['organization', 'key']) {
    if (!extra.includes(reserved)) continue;
    const reason = `"${reserved}" is the name of the tier's own policy.`;
    mistakes.push(sources.limits.mistakeAtKey(['extra', reserved], reason, 'Choose another name for this limit.'));
  }
  for (const [name, entry] of Object.entries(upstreams)) {
    if (entry.limit !== undefined && !extra.includes(entry.limit)) {
      const reason = `there is no limit "${entry.limit}" under extra in limits.yaml.`;
      mistakes.push(sources.upstreams.mistakeAt(['upstreams', name, 'limit'], reason, suggest(entry.limit, extra)));
    }
    if (entry.public && entry.security) {
      const reason = 'an upstream is either public or secured.';
      mistakes.push(sources.upstreams.mistakeAt(['upstreams', name, 'public'], reason, 'Remove public or security.'));
    }
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
