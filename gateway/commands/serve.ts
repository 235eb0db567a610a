// One process that serves: everything from the environment to open listeners. On the sandbox it also makes sure that there is something
// to see.

import { type App, startApp } from '../app.ts';
import type { KeyStore } from '../auth/store/store.ts';
import type { Settings } from '../config/load.ts';
import { type Configuration, loadConfiguration, reloadConfiguration } from '../configuration.ts';
import { liesOnSandboxOnly } from '../upstream/sandbox.ts';
import { issueDemoKey } from './demo.ts';
import { type CommandEnvironment, openKeyStore, openSecrets } from './environment.ts';

export interface ServeOptions {
  /** Which of several workers this is; undefined: there is but one process. */
  readonly worker?: number;
  /** Whether it is the one that sees to the demo organization, where there is one. */
  readonly preparesDemo: boolean;
  /** Those of all workers. */
  readonly ticketKeys?: Buffer;
}

export interface Served {
  readonly app: App;
  readonly store: KeyStore;
  readonly configuration: Configuration;
  readonly demoKey: string | undefined;
}

/** Rejects with ConfigError, or with a sentence, when it cannot be done. */
export async function serve(
  surroundings: CommandEnvironment,
  settings: Settings,
  { worker, preparesDemo, ticketKeys }: ServeOptions,
): Promise<Served> {
  const configuration = await loadConfiguration(settings, surroundings.environment);
  const secrets = openSecrets(surroundings, settings);
  const { store, digestOf } = await openKeyStore(surroundings, settings, secrets);
  // A key that is made up and printed belongs to demo data only: never where a single real upstream is configured.
  const upstreams = Object.entries(configuration.config.upstreams);
  const platform = upstreams.find(([, { live }]) => live.includes('sandbox:platform'))?.[0];
  const isDemo =
    preparesDemo && platform !== undefined && upstreams.every(([, upstream]) => liesOnSandboxOnly(upstream));
  let demoKey: string | undefined;
  const app = await startApp({
    version: surroundings.version,
    settings,
    configuration,
    reloadConfiguration: (previous) => reloadConfiguration(settings, surroundings.environment, previous),
    secrets,
    store,
    digestOf,
    now: surroundings.now,
    worker,
    ticketKeys,
    async prepare(tools) {
      const { dataDirectory } = settings;
      const { now } = surroundings;
      if (isDemo) demoKey = await issueDemoKey({ ...tools, store, digestOf, upstream: platform, dataDirectory, now });
    },
  });
  return { app, store, configuration, demoKey };
}
