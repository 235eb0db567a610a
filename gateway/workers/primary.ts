// The process that holds the workers and the listeners, and does not itself serve requests. It distributes connections to the workers in
// turn, replaces dead workers, and answers operators for all of them.

import { adminTokensIn } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import { closeAtOnce, listen } from '../edge/connections/listen.ts';
import { newTicketKeys } from '../edge/tls/secure.ts';
import { createAdminServer } from '../observe/admin/admin.ts';
import { JoinedOutput, keepsWritesTogether } from '../observe/log/joined-output.ts';
import { createLog, type Log } from '../observe/log/log.ts';
import { StandardOutput } from '../observe/log/standard-output.ts';
import { DROPPED } from '../observe/log/waiting-lines.ts';
import { createWorkerMetrics, type WorkerMetrics } from '../observe/metrics/worker-metrics.ts';
import { endOnCrash } from '../process/crash.ts';
import type { StartedGateway } from '../process/greeting.ts';
import type { HostProcess, Painter } from '../process/host-process.ts';
import { openSecrets } from '../process/open-key-store.ts';
import { tellDrain, terminalSinkOf } from '../process/terminal-log.ts';
import { onFault } from '../shared/faults.ts';
import { createForwardClock } from '../shared/machine.ts';
import { openConsole } from '../wiring/console.ts';
import { createGap } from './gap.ts';
import { createWorkersOperators } from './operators.ts';
import { ForkedWorker, type StartOptions, type WorkerProcess } from './process.ts';
import { WorkerPool } from './worker-pool.ts';

/** The longest wait at the end for the workers' last log lines. */
const LAST_LINES_MS = 2000;
/** The buffer for lines of this process that wait for standard output, which holds some thousand lines. */
const OWN_LINES_BYTES_MAX = 1_048_576;
const BACK_OFF = { steadyMs: 10_000, firstMs: 500, longestMs: 30_000 };

/** Resolves when all workers take requests. Rejects with ConfigError or with a sentence if the start fails. */
export async function startPrimary(context: HostProcess & Painter, settings: Settings): Promise<StartedGateway> {
  const { now } = context;
  const { host, adminHost } = settings;
  let ending = false;
  let ports: readonly number[] = [];
  const isEnding = () => ending;
  const metrics = createWorkerMetrics(() => pool.processes().filter((worker) => worker.state() === 'serving').length);
  const output = openOutput(context, metrics);
  const log = createLog({ level: 'info', now, destination: output, worker: 'primary' });
  const { logger } = log;
  const onFailure = ({ message }: Error) =>
    logger.error({ reason: message }, 'no worker listens, and its port is not kept open');
  const start = createStart({
    gap: createGap({ host, ports: () => ports, isEnding, onFailure }),
    askFleet: (question) => opened.console.askFleet(question),
    ...{ metrics, output, now },
  });
  const pool = new WorkerPool({ size: settings.workers, start, backOff: BACK_OFF, now, ...reportTo(log, metrics) });
  const operators = createWorkersOperators({ pool, metrics, startedAtMs: now(), isEnding });
  const secrets = openSecrets(context, settings);
  const opened = openConsole(operators, {
    ...{ settings, secrets, logger, isEnding },
    version: context.version,
    isServing: () => ports.length > 0 && !ending,
    onOutcome: metrics.alerts,
    now: createForwardClock(now),
  });
  const tokens = adminTokensIn(secrets);
  const adminServer = createAdminServer({ host: adminHost, logger, tokens, ...operators, ...opened });
  const adminPort = await listen(adminServer, adminHost, settings.adminPort, 'ADMIN_PORT');

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (ending) return;
    ending = true;
    tellDrain(context, log, signal);
    await pool.end();
    await opened.stop();
    await closeAtOnce(adminServer);
    await Promise.race([output.readRest(), new Promise((resolve) => setTimeout(resolve, LAST_LINES_MS))]);
    output.flush();
    context.exit(0);
  }

  onFault((thrown) => logger.error({ err: thrown }, 'an error outside a request: its connection was ended'));
  endOnCrash(context, { logger, flush: () => output.flush() });
  // This comes before the workers start, because the first worker takes requests while the others start, and an unhandled signal ends the
  // process.
  context.onSignal((signal) => void end(signal));
  context.onReload(() => {
    logger.info('configuration reload requested');
    for (const worker of pool.processes()) worker.reload();
  });
  context.onRestart(oneAtATime(() => roll(pool, log)));
  const first = await pool.begin().catch((error: unknown) => {
    // A stop that arrives meanwhile is not a failed start, so this start never settles in that case.
    if (ending) return new Promise<never>(() => undefined);
    output.flush();
    throw error;
  });
  logger.level = first.logLevel;
  ports = [first.port, ...(first.plainPort === undefined ? [] : [first.plainPort])];
  return { ...first, adminPort, log };
}

/** Opens the standard output, which this process and its workers share. */
function openOutput(context: HostProcess & Painter, metrics: WorkerMetrics): JoinedOutput {
  return new JoinedOutput(terminalSinkOf(context) ?? new StandardOutput(), {
    bytesMax: OWN_LINES_BYTES_MAX,
    onDropped: metrics.logLinesDropped,
    droppedLine: (dropped) =>
      `${JSON.stringify({ level: 40, time: context.now(), worker: 'primary', dropped, msg: DROPPED })}\n`,
  });
}

interface WorkersOptions extends Pick<StartOptions, 'gap' | 'askFleet' | 'now'> {
  readonly metrics: WorkerMetrics;
  readonly output: JoinedOutput;
}

/** Returns the function that starts a worker, and joins its lines and its metrics to those of the other workers. */
function createStart({ metrics, output, ...options }: WorkersOptions) {
  const writesItself = keepsWritesTogether();
  // New with each start, and never written to disk.
  const ticketKeys = newTicketKeys().toString('base64');
  return (number: number, isFirst: boolean): WorkerProcess => {
    const worker = new ForkedWorker({
      ...options,
      ...{ number, isFirst, ticketKeys, writesItself, metrics: metrics.of(number) },
    });
    if (worker.output) void output.join(worker.output);
    return worker;
  };
}

/** Logs and counts workers that die, fail to start or are replaced. */
function reportTo({ logger }: Log, metrics: WorkerMetrics) {
  return {
    onDeath(
      { number, pid }: WorkerProcess,
      death: { readonly code: number | null; readonly signal: string | null },
      delayMs: number,
    ) {
      metrics.restarted();
      const { code, signal } = death;
      logger.error(
        { of: number, pid, code, signal, delay_ms: delayMs },
        'a worker died; another one is started in its place',
      );
    },
    onStartFailure(number: number, { message }: Error) {
      logger.error({ of: number, reason: message }, 'a worker could not be started');
    },
    onReplaced(before: WorkerProcess, next: WorkerProcess) {
      logger.info(
        { of: before.number, before: before.pid, pid: next.pid },
        'a worker was replaced; the former one drains',
      );
    },
  };
}

async function roll(pool: WorkerPool, { logger }: Log): Promise<void> {
  logger.info('replacement of every worker requested');
  if (await pool.roll()) logger.info('every worker was replaced');
  else logger.error('not every worker was replaced; the others keep running');
}

/** Returns a function that runs the work, and ignores a call while the work is running. */
function oneAtATime(work: () => Promise<void>): () => void {
  let running = false;
  return () => {
    if (running) return;
    running = true;
    void work().finally(() => {
      running = false;
    });
  };
}
