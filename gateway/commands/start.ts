// `gateway start`: one process that serves, or one that holds several which do. Says where it listens, on standard error:
// standard output carries log lines.

import type { Command } from 'commander';
import { loadSettings, type Settings } from '../config/load.ts';
import { endOnCrash } from './crash.ts';
import type { CommandEnvironment } from './environment.ts';
import { belowBaseline } from './node-baseline.ts';

export function addStartCommand(program: Command, surroundings: CommandEnvironment): void {
  program
    .command('start')
    .description('run the gateway')
    .addHelpText(
      'after',
      '\nListens on HOST:PORT (0.0.0.0:8080), for operators on ADMIN_HOST:ADMIN_PORT (127.0.0.1:9090).\n' +
        'Standard output carries log lines, one JSON object each; addresses and the curl line go to standard error.',
    )
    .option('--json', 'print where it listens as one JSON object on standard output, too')
    .action((options: { json?: boolean }) => start(surroundings, options.json === true));
}

async function start(surroundings: CommandEnvironment, asJson: boolean): Promise<void> {
  const onReload = keepWishes(surroundings.onReload);
  const settings = loadSettings(surroundings.environment);
  // One process neither has what several need nor loads it.
  const started =
    settings.workers === 1
      ? await startAlone({ ...surroundings, onReload }, settings)
      : await startSeveral({ ...surroundings, onReload, onRestart: keepWishes(surroundings.onRestart) }, settings);
  if (started === undefined) return;
  const { port, plainPort: plain_port, adminPort: admin_port } = started;
  // Standard output is left to JSON lines, so that it can be piped into something that parses them.
  const older = belowBaseline(process.versions.node);
  if (older !== undefined) surroundings.complain(`gateway: ${older}\n`);
  surroundings.complain(greetingOf(started, settings));
  if (asJson) surroundings.write(`${JSON.stringify({ port, plain_port, admin_port })}\n`);
}

/**
 * What is wished for while the gateway starts is kept until somebody can fulfil it: a signal that nobody handles ends the process.
 *
 * @param listen has a handler called with every wish
 */
function keepWishes(listen: (handle: () => void) => void): (fulfil: () => void) => void {
  const fulfilling: (() => void)[] = [];
  let isWished = false;
  listen(() => {
    isWished = true;
    for (const fulfil of fulfilling) fulfil();
  });
  return (fulfil) => {
    fulfilling.push(fulfil);
    if (isWished) fulfil();
  };
}

/** What is said of a gateway that has been started. */
export interface Started {
  readonly port: number;
  /** Of the listener without TLS beside the public one, if there is one. */
  readonly plainPort: number | undefined;
  readonly isTls: boolean;
  readonly adminPort: number;
  readonly operations: number;
  readonly demoKey: string | undefined;
}

async function startSeveral(surroundings: CommandEnvironment, settings: Settings): Promise<Started | undefined> {
  return (await import('../workers/start.ts')).startSeveral(surroundings, settings);
}

async function startAlone(surroundings: CommandEnvironment, settings: Settings): Promise<Started> {
  // It takes longer to load than everything before it.
  const { serve } = await import('./serve.ts');
  const { app, store, configuration, demoKey } = await serve(surroundings, settings, { preparesDemo: true });
  endOnCrash(surroundings, app.log);
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
  const { port, plainPort, adminPort } = app;
  const isTls = configuration.config.gateway.tls !== undefined;
  return { port, plainPort, isTls, adminPort, operations: configuration.contracts.operations.length, demoKey };
}

function greetingOf({ port, isTls, adminPort, operations, demoKey }: Started, { host, adminHost }: Settings): string {
  const shown = (bound: string) => (bound === '0.0.0.0' || bound === '::' ? 'localhost' : bound);
  const url = `http${isTls ? 's' : ''}://${shown(host)}:${port}`;
  const lines = [
    `gateway   ${url}   ${operations} operations`,
    `operators http://${shown(adminHost)}:${adminPort}/status`,
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
