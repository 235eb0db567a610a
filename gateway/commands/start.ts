// `gateway start`: starts one serving process, or a primary with several workers. Prints its addresses on standard error, because standard
// output carries log lines.

import type { Command } from 'commander';
import { readSettings, type Settings } from '../config/settings.ts';
import type { Log } from '../observe/log/log.ts';
import { endOnCrash } from '../process/crash.ts';
import { greetingOf, type StartedGateway } from '../process/greeting.ts';
import { openFilesText, warnOfOpenFiles } from '../process/open-files.ts';
import { tellDrain } from '../process/terminal-log.ts';
import { operationCountOf } from '../serving/route-rows.ts';
import { upstreamsFromContract } from '../upstream/targets/addresses.ts';
import type { CommandContext } from './context.ts';
import { belowBaseline } from './node-baseline.ts';

/** The time for closing connections and writing the last log lines. It is added to the time for draining. */
const CLOSE_MS = 5000;

export function addStartCommand(program: Command, context: CommandContext): void {
  program
    .command('start')
    .description('run the gateway')
    .addHelpText(
      'after',
      '\nListens on HOST:PORT (0.0.0.0:8080), for operators on ADMIN_HOST:ADMIN_PORT (127.0.0.1:9090).\n' +
        'Standard output carries log lines, one JSON object each; addresses and the curl line go to standard error.\n' +
        '\nExamples:\n  gateway start\n  PORT=8081 ADMIN_PORT=9091 gateway start',
    )
    .option('--json', 'also print its ports as one JSON object on standard output')
    .option('--accept-one-way', 'upgrade stores even if no earlier version can open them afterwards')
    .action((flags: StartFlags) => start(context, flags));
}

interface StartFlags {
  readonly json?: boolean;
  readonly acceptOneWay?: boolean;
}

async function start(context: CommandContext, { json = false, acceptOneWay = false }: StartFlags): Promise<void> {
  const onReload = rememberSignals(context.onReload);
  const { settings, mistakes } = readSettings(context.environment);
  // A single process does not load the code for workers.
  const started =
    settings.workers === 1 || mistakes.length > 0
      ? await startAlone({ ...context, onReload }, acceptOneWay)
      : await startWithWorkers({ ...context, onReload, onRestart: rememberSignals(context.onRestart) }, settings);
  if (started === undefined) return;
  const { port, plainPort: plain_port, adminPort: admin_port } = started;
  // Standard output contains only JSON lines, because it is piped into parsers.
  const older = belowBaseline(process.versions.node);
  if (older !== undefined) context.complain(`gateway: ${older}\n`);
  // A person at a terminal gets a sentence. Elsewhere the log is collected, and gets the warning as a line. A demonstration has few
  // connections.
  const { openFiles, log, firstSteps } = started;
  const isDemonstration = firstSteps.demoKey !== undefined;
  const warning = context.outputOnTerminal && !isDemonstration ? openFilesText(openFiles) : undefined;
  context.complain(greetingOf(started, settings, warning));
  if (json) context.write(`${JSON.stringify({ port, plain_port, admin_port })}\n`);
  if (!context.outputOnTerminal && !isDemonstration) warnOfOpenFiles(log, openFiles);
}

/**
 * Remembers a signal that arrives during the start until a handler is set, because an unhandled signal would end the process.
 *
 * @param listen subscribes a handler to the signal
 */
function rememberSignals(listen: (handle: () => void) => void): (handler: () => void) => void {
  const handlers: (() => void)[] = [];
  let hasArrived = false;
  listen(() => {
    hasArrived = true;
    for (const handler of handlers) handler();
  });
  return (handler) => {
    handlers.push(handler);
    if (hasArrived) handler();
  };
}

/**
 * Starts the primary or a worker, which both run this command. Resolves with undefined in a worker, because the primary prints the
 * addresses.
 */
async function startWithWorkers(context: CommandContext, settings: Settings): Promise<StartedGateway | undefined> {
  const { default: cluster } = await import('node:cluster');
  // The primary serves nothing, so it loads only its own code.
  if (cluster.worker === undefined) return (await import('../workers/primary.ts')).startPrimary(context, settings);
  await (await import('../workers/worker.ts')).startWorker(cluster.worker, context);
  return undefined;
}

async function startAlone(context: CommandContext, acceptOneWay: boolean): Promise<StartedGateway> {
  // Loaded on demand, because it takes longer than everything before it.
  const { serve } = await import('../process/serve.ts');
  const { app, store, configuration, firstSteps, openFiles } = await serve(context, {
    isFirst: true,
    acceptOneWay,
  });
  const { gateway, upstreams } = configuration.config;
  const { timeouts } = gateway;
  endOnCrash(context, app.log);
  context.onReload(() => {
    app.log.logger.info('configuration reload requested');
    void app.reload();
  });
  context.onSignal(async (signal) => {
    tellDrain(context, app.log, signal);
    // A second signal changes nothing, because this deadline bounds the end, which a disk or a name server that hangs would delay.
    setTimeout(() => endAnyway(context, app.log), timeouts.drainDelayMs + timeouts.drainMs + CLOSE_MS).unref();
    await app.stop();
    await store.close();
    context.exit(0);
  });
  const { port, plainPort, adminPort } = app;
  const isTls = gateway.tls !== undefined;
  const operations = operationCountOf(configuration);
  return {
    port,
    plainPort,
    isTls,
    adminPort,
    operations,
    firstSteps,
    openFiles,
    fromContract: upstreamsFromContract(upstreams),
    log: app.log,
  };
}

function endAnyway({ exit }: CommandContext, { logger, flush }: Log): void {
  logger.error('the gateway ends, although some of its parts are not closed: they did not end in time');
  flush();
  exit(1);
}
