// A whole gateway for tests: real files, real sockets, built by the same wiring as `gateway start`, on free ports.

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type App, startApp } from '../../gateway/app.ts';
import { createIssueKey } from '../../gateway/auth/issue-key.ts';
import type { KeyStore } from '../../gateway/auth/store/key-store.ts';
import { loadSettings, type Settings } from '../../gateway/config/settings.ts';
import { type Configuration, loadConfiguration, reloadConfiguration } from '../../gateway/configuration.ts';
import type { Mode } from '../../gateway/exchange/caller.ts';
import type { LoopProbe } from '../../gateway/overload/pressure.ts';
import { type OpenKeyStore, openKeyStore, openSecrets } from '../../gateway/process/open-key-store.ts';
import { type ConfigurationOptions, environmentOf, writeConfiguration } from './configuration.ts';
import { temporaryDirectory } from './directory.ts';

export interface GatewayOptions extends ConfigurationOptions {
  readonly environment?: Record<string, string>;
  /** Puts further files into the directory before anything is read. */
  readonly prepare?: (directory: string) => void;
  /** To start again on the data of a gateway before. */
  readonly dataDirectory?: string;
  readonly now?: () => number;
  /** Reports the delay of the event loop, in the place of a timer. */
  readonly probeLoop?: LoopProbe;
}

export interface KeyOptions {
  readonly organization?: string;
  readonly tier?: string;
  readonly operator?: boolean;
  readonly mode?: Mode;
  readonly scopes?: readonly string[];
  readonly allowedCidrs?: readonly string[];
  readonly expiresAtMs?: number;
}

export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly adminUrl: string;
  readonly dataDirectory: string;
  /** The directory of its files: `config/*.yaml`, and `openapi/` if it has its own contracts. */
  readonly directory: string;
  readonly store: KeyStore;
  readonly app: App;
  /** Makes a key, and its organization if there is none yet. */
  issueKey(options?: KeyOptions): Promise<{ readonly id: string; readonly key: string }>;
  /** Returns the headers of a caller with a new key. */
  authorize(options?: KeyOptions): Promise<{ authorization: string }>;
  /** Returns the log lines so far, parsed. */
  logLines(): Record<string, unknown>[];
  stop(): Promise<void>;
}

export const shippedContracts = fileURLToPath(new URL('../../openapi', import.meta.url));

/** Contracts of entries → the configuration of a gateway of this process that had the same, of those on the shipped contracts. */
const loaded = new Map<string, Configuration>();

/**
 * Loads the configuration as a reload does if a gateway of this process had the same shipped contracts, because these take longer to read
 * and compile than most tests. Certificates are not read again by a reload.
 */
async function loadOnce(
  settings: Settings,
  environment: Record<string, string>,
  options: GatewayOptions,
): Promise<Configuration> {
  const isShipped = settings.contractsDirectory === shippedContracts && options.gateway?.tls === undefined;
  const name = JSON.stringify(Object.values(options.upstreams ?? {}).map((entry) => contractsOf(entry)));
  const before = isShipped ? loaded.get(name) : undefined;
  const configuration =
    before === undefined
      ? await loadConfiguration(settings, environment)
      : await reloadConfiguration(settings, environment, before);
  if (isShipped) loaded.set(name, configuration);
  return configuration;
}

const contractsOf = (entry: unknown) => (entry as { contracts?: unknown }).contracts;

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const directory = temporaryDirectory();
  const dataDirectory = options.dataDirectory ?? join(directory, 'data');
  writeConfiguration(directory, options, options.probeLoop !== undefined);
  options.prepare?.(directory);
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    ...environmentOf(directory),
    ...(options.contracts === undefined && { GATEWAY_CONTRACTS: shippedContracts }),
    GATEWAY_DATA: dataDirectory,
    ...options.environment,
  };
  const settings = loadSettings(environment);
  const now = options.now ?? Date.now;
  const configuration = await loadOnce(settings, environment, options);
  const secrets = openSecrets({ environment }, settings);
  const { store, digestOf } = await openKeyStore({ environment, now }, settings, secrets);
  const lines: string[] = [];
  const parsed: Record<string, unknown>[] = [];
  const app = await startApp({
    version: 'test',
    settings,
    configuration,
    environment,
    secrets,
    store,
    digestOf,
    now,
    ...(options.probeLoop && { probeLoop: options.probeLoop }),
    logTo: { write: (line) => lines.push(line) },
  });
  const issueKey = createIssuer({ store, digestOf, now });

  return {
    url: `http://127.0.0.1:${app.port}`,
    port: app.port,
    adminUrl: `http://127.0.0.1:${app.adminPort}`,
    dataDirectory,
    directory,
    store,
    app,
    issueKey,
    authorize: async (key) => ({ authorization: `Bearer ${(await issueKey(key)).key}` }),
    logLines() {
      app.log.flush();
      // Tests ask again and again: each line is parsed once.
      for (const text of lines.splice(0))
        for (const line of text.trimEnd().split('\n')) parsed.push(JSON.parse(line) as Record<string, unknown>);
      return [...parsed];
    },
    async stop() {
      await app.stop();
      await store.close();
      if (options.dataDirectory === undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

type Issued = Awaited<ReturnType<TestGateway['issueKey']>>;

interface IssuerOptions extends OpenKeyStore {
  readonly now: () => number;
}

function createIssuer({ store, digestOf, now }: IssuerOptions): (options?: KeyOptions) => Promise<Issued> {
  const issue = createIssueKey({ digestOf, randomBytes, now });
  return async (options = {}) => {
    const { organization = 'org_test', tier = 'standard', operator = false } = options;
    if ((await store.organizations.get(organization)) === undefined) {
      await store.organizations.create(
        { id: organization, name: organization, tier, state: 'active', contacts: [], operator },
        'test',
      );
    }
    const { record, key } = issue({
      organization,
      mode: options.mode ?? 'live',
      name: 'test',
      scopes: options.scopes ?? ['*'],
      allowedCidrs: options.allowedCidrs ?? [],
      expiresAtMs: options.expiresAtMs,
      by: 'test',
    });
    await store.keys.create(record);
    return { id: record.id, key };
  };
}

/** Makes a key in the store of this environment, as `orgs create` and `keys create` do. */
export async function issueKeyIn(environment: Record<string, string>, options?: KeyOptions): Promise<Issued> {
  const now = Date.now;
  const opened = await openKeyStore({ environment, now }, loadSettings(environment));
  try {
    return await createIssuer({ ...opened, now })(options);
  } finally {
    await opened.store.close();
  }
}
