// Starts one serving process, from the environment to open listeners. On the sandbox it also creates demo data.

import { type App, startApp } from '../app.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import type { Settings } from '../config/settings.ts';
import type { Configuration } from '../configuration.ts';
import { compileRest } from '../contract/schemas/compile.ts';
import { ACCOUNT_SCOPES } from '../shared/contracts/scopes.ts';
import { ConfigError } from '../shared/mistakes.ts';
import { directoryLockProblem } from '../shared/stores/sqlite.ts';
import { isSimulated } from '../upstream/targets/addresses.ts';
import type { AppOptions } from '../wiring/app-options.ts';
import { issueDemoKey } from './demo.ts';
import type { FirstSteps } from './greeting.ts';
import type { HostProcess, Painter } from './host-process.ts';
import { giveBackIdleMemory } from './idle-memory.ts';
import { type OpenFiles, openFilesFor, readLimits, tellLackOfFiles } from './open-files.ts';
import { openKeyStore, openSecrets } from './open-key-store.ts';
import { checkStart } from './start-mistakes.ts';
import { terminalLogOf } from './terminal-log.ts';

/**
 * Milliseconds from the start until the gateway compiles the schemas that no request has needed yet. Because of the delay, the first
 * requests are served first.
 */
const COMPILE_AFTER_MS = 1000;

interface ServeOptions {
  /** The number of this worker; undefined for a single process. */
  readonly worker?: number;
  /** Whether this process prepares the first request, and creates the demo organization if only the sandbox is used. */
  readonly isFirst: boolean;
  /** Whether stores may be upgraded although earlier gateways cannot open them afterwards. */
  readonly acceptOneWay?: boolean;
  /** TLS session ticket keys that all workers share. */
  readonly ticketKeys?: Buffer;
  readonly askPrimary?: AppOptions['askPrimary'];
}

export interface ServingApp {
  readonly app: App;
  readonly store: KeyStore;
  readonly configuration: Configuration;
  readonly firstSteps: FirstSteps;
  readonly openFiles: OpenFiles;
}

/** Rejects with ConfigError or with a sentence if the start fails. */
export async function serve(context: HostProcess & Painter, options: ServeOptions): Promise<ServingApp> {
  const { worker, isFirst, ticketKeys, askPrimary, acceptOneWay = false } = options;
  const { environment, now } = context;
  const openSecretsOf = (settings: Settings) => openSecrets(context, settings);
  const checked = await checkStart({ environment, purpose: 'serve', openSecrets: openSecretsOf, now });
  const { secrets, configuration } = checked;
  const settings = { ...checked.settings, acceptOneWay };
  const mistakes = [...checked.mistakes, ...checked.missing, ...(acceptOneWay ? [] : checked.oneWay)];
  if (configuration === undefined || mistakes.length > 0) throw new ConfigError(mistakes);
  // Another gateway may run on this data directory. An upgrade would change the files that it has open.
  const locked = checked.oneWay.length > 0 ? directoryLockProblem(settings.dataDirectory) : undefined;
  if (locked !== undefined) throw new Error(locked);
  const { store, digestOf } = await openKeyStore(context, settings, secrets);
  // A demo key is created and printed only if no upstream is a real service.
  const upstreams = Object.entries(configuration.config.upstreams);
  const platform = upstreams.find(([, { live }]) => live.includes('sandbox:platform'))?.[0];
  const isDemo = isFirst && platform !== undefined && upstreams.every(([, upstream]) => isSimulated(upstream));
  const hasAccount = ACCOUNT_SCOPES.every((scope) => configuration.contracts.scopes.has(scope));
  let firstSteps: FirstSteps = {};
  const app = await startApp({
    version: context.version,
    settings,
    configuration,
    environment,
    secrets,
    store,
    digestOf,
    now,
    worker,
    ticketKeys,
    askPrimary,
    logTo: terminalLogOf(context),
    async prepare(tools) {
      const { dataDirectory } = settings;
      if (isDemo) {
        const demoKey = await issueDemoKey({ ...tools, store, digestOf, upstream: platform, dataDirectory, now });
        firstSteps = { demoKey, hasAccount };
      } else if (isFirst && !(await hasOrganization(store))) {
        const [firstTier = ''] = Object.keys(configuration.config.limits.tiers);
        firstSteps = { firstTier, hasAccount };
      }
    },
  });
  tellLackOfFiles(app.log);
  giveBackIdleMemory();
  setTimeout(() => void compileRest(configuration.contracts), COMPILE_AFTER_MS).unref();
  const openFiles = openFilesFor(configuration.config, settings.workers, readLimits());
  return { app, store, configuration, firstSteps, openFiles };
}

async function hasOrganization({ organizations }: KeyStore): Promise<boolean> {
  for await (const page of organizations.scan()) if (page.length > 0) return true;
  return false;
}
