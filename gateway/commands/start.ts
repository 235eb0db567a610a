// `gateway start`: loads, builds, listens, drains. On the sandbox it also makes sure that there is something to see.

import type { Command } from 'commander';
import { type App, startApp } from '../app.ts';
import { loadSettings, type Settings } from '../config/load.ts';
import { type Configuration, loadConfiguration, reloadConfiguration } from '../configuration.ts';
import { liesOnSandboxOnly } from '../upstream/sandbox.ts';
import { collectGarbage } from './collect.ts';
import { issueDemoKey } from './demo.ts';
import { openKeyStore, openSecrets, type Surroundings } from './surroundings.ts';

export function addStartCommand(program: Command, surroundings: Surroundings): void {
  program
    .command('start')
    .description('run the gateway')
    .addHelpText(
      'after',
      '\nListens on HOST:PORT (0.0.0.0:8080), for operators on ADMIN_HOST:ADMIN_PORT (127.0.0.1:9090).',
    )
    .option('--json', 'print where it listens as one JSON object')
    .action((options: { json?: boolean }) => start(surroundings, options.json === true));
}

async function start(surroundings: Surroundings, asJson: boolean): Promise<void> {
  const settings = loadSettings(surroundings.environment);
  const configuration = await loadConfiguration(settings, surroundings.environment);
  const secrets = openSecrets(surroundings, settings);
  const { store, digestOf } = await openKeyStore(surroundings, settings, secrets);
  // A key that is made up and printed belongs to demo data only: never where a single real upstream is configured.
  const upstreams = Object.entries(configuration.config.upstreams);
  const platform = upstreams.find(([, { live }]) => live.includes('sandbox:platform'))?.[0];
  const isDemo = platform !== undefined && upstreams.every(([, upstream]) => liesOnSandboxOnly(upstream));
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
    async prepare(tools) {
      const { dataDirectory } = settings;
      const { now } = surroundings;
      if (isDemo) demoKey = await issueDemoKey({ ...tools, store, digestOf, upstream: platform, dataDirectory, now });
      collectGarbage();
    },
  });

  surroundings.onReload(() => {
    app.log.logger.info('asked to load the configuration anew');
    void app.reload();
  });
  surroundings.onSignal(async () => {
    app.log.logger.info('draining');
    // A second signal would find nothing better to do; the deadline of the drain bounds this.
    await app.stop();
    await store.close();
    surroundings.exit(0);
  });

  surroundings.write(
    asJson
      ? `${JSON.stringify({ port: app.port, admin_port: app.adminPort })}\n`
      : banner(app, settings, configuration, demoKey),
  );
}

function banner(app: App, settings: Settings, { contracts }: Configuration, demoKey: string | undefined): string {
  const host = (bound: string) => (bound === '0.0.0.0' || bound === '::' ? 'localhost' : bound);
  const url = `http://${host(settings.host)}:${app.port}`;
  const lines = [
    `gateway   ${url}   ${contracts.operations.length} operations`,
    `operators http://${host(settings.adminHost)}:${app.adminPort}/status`,
  ];
  if (demoKey !== undefined) {
    lines.push(
      '',
      'Everything behind it is a sandbox with demo data. Try it (the key works for 24 hours):',
      '',
      `  curl '${url}/v1/customers?limit=3' -H 'Authorization: Bearer ${demoKey}'`,
      '',
    );
  }
  return `${lines.join('\n')}\n`;
}
