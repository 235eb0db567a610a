// The process that holds the workers and the listeners, and serves no request itself: it distributes connections to the workers in turn,
// replaces dead workers, and answers operators for all of them.

import { adminTokensIn } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import { closeAtOnce, listen } from '../edge/connections/listen.ts';
import { newTicketKeys } from '../edge/tls/secure.ts';
import { createAdminServer } from '../observe/admin/admin.ts';
import { createJoinedOutput, keepsWritesTogether } from '../observe/log/joined-output.ts';
import { createLog, type Log } from '../observe/log/log.ts';
import { openStandardOutput } from '../observe/log/standard-output.ts';
import { DROPPED } from '../observe/log/waiting-lines.ts';
import { createWorkerMetrics, type MetricsOfWorker, type WorkerMetrics } from '../observe/metrics/worker-metrics.ts';
import { endOnCrash } from '../process/crash.ts';
import type { Started } from '../process/greeting.ts';
import type { HostProcess, Painter } from '../process/host-process.ts';
import { openSecrets } from '../process/open-key-store.ts';
import { tellDrain, terminalSinkOf } from '../process/terminal-log.ts';
import { onFault } from '../shared/faults.ts';
import { createForwardClock } from '../shared/machine.ts';
import { openConsole } from '../wiring/console.ts';
import { createGap } from './gap.ts';
import type { Ready } from './messages.ts';
import { createWorkersOperators } from './operators.ts';
import { startWorkerProcess, type WorkerProcess } from './process.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';

/** Many times the start of a gateway with a large contract. */
const START_MS = 60_000;
/** Longest wait for a worker's answer: an operator is waiting for it. */
const ANSWER_MS = 1000;
/** Time for closing connections to Redis and to upstreams, beyond that for draining. */
const CLOSE_MS = 3000;
/** Longest wait at the end for the workers' last log lines. */
const LAST_LINES_MS = 2000;
/** Buffer for lines of this process that wait for standard output: some thousand lines. */
const OWN_LINES_BYTES_MAX = 1_048_576;
const BACK_OFF = { steadyMs: 10_000, firstMs: 500, longestMs: 30_000 };

/** Resolves when all workers take requests. Rejects with ConfigError or with a sentence if the start fails. */
export async function startPrimary(context: HostProcess & Painter, settings: Settings): Promise<Started> {
  const { now } = context;
  const metrics = createWorkerMetrics(() => pool.processes().filter((worker) => worker.state() === 'serving').length);
  const output = createJoinedOutput(terminalSinkOf(context) ?? openStandardOutput(), {
    bytesMax: OWN_LINES_BYTES_MAX,
    onDropped: metrics.logLinesDropped,
    droppedLine: (dropped) =>
      `${JSON.stringify({ level: 40, time: now(), worker: 'primary', dropped, msg: DROPPED })}\n`,
  });
  const writesItself = keepsWritesTogether();
  const log = createLog({ level: 'info', now, destination: { write: output.write }, worker: 'primary' });
  const metricsByWorker = new WeakMap<WorkerProcess, MetricsOfWorker>();
  // New with each start, and never written to disk.
  const ticketKeys = newTicketKeys().toString('base64');
  let ending = false;
  let ports: readonly number[] = [];
  const gap = createGap({
    host: settings.host,
    ports: () => ports,
    isEnding: () => ending,
    onFailure: ({ message }) =>
      log.logger.error({ reason: message }, 'no worker listens, and its port is not kept open'),
  });

  function start(number: number, isFirst: boolean): WorkerProcess {
    const workerMetrics = metrics.of(number);
    const worker = startWorkerProcess({
      number,
      isFirst,
      ticketKeys,
      startMs: START_MS,
      answerMs: ANSWER_MS,
      closeMs: CLOSE_MS,
      writesItself,
      gap,
      askFleet: (question) => opened.console.askFleet(question),
      onFarewell: workerMetrics.note,
      now,
    });
    metricsByWorker.set(worker, workerMetrics);
    if (worker.output) void output.join(worker.output);
    void worker.ended.then(workerMetrics.end);
    return worker;
  }

  const pool = createWorkerPool({
    size: settings.workers,
    start,
    backOff: BACK_OFF,
    now,
    ...reportTo(log, metrics),
  });
  const operators = createWorkersOperators({
    pool,
    metrics,
    metricsOf: (worker) => metricsByWorker.get(worker),
    isEnding: () => ending,
  });
  const secrets = openSecrets(context, settings);
  const opened = openConsole(operators, {
    settings,
    secrets,
    version: context.version,
    logger: log.logger,
    isServing: () => ports.length > 0 && !ending,
    isEnding: () => ending,
    onOutcome: metrics.alerts,
    now: createForwardClock(now),
  });
  const adminServer = createAdminServer({
    host: settings.adminHost,
    logger: log.logger,
    tokens: adminTokensIn(secrets),
    ...operators,
    ...opened,
  });
  const adminPort = await listen(adminServer, settings.adminHost, settings.adminPort, 'ADMIN_PORT');

  /** Starts the workers. Never settles if a stop arrives meanwhile, because that is not a failed start. */
  async function startWorkers(): Promise<Ready> {
    try {
      return await pool.begin();
    } catch (error) {
      if (ending) return new Promise(() => undefined);
      output.flush();
      throw error;
    }
  }

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

  onFault((thrown) => log.logger.error({ err: thrown }, 'an error outside a request: its connection was ended'));
  endOnCrash(context, { logger: log.logger, flush: output.flush });
  // Before the workers start: the first one takes requests while the others start, and an unhandled signal ends the process.
  context.onSignal((signal) => void end(signal));
  context.onReload(() => {
    log.logger.info('configuration reload requested');
    for (const worker of pool.processes()) worker.reload();
  });
  context.onRestart(oneAtATime(() => roll(pool, log)));
  const first = await startWorkers();
  log.logger.level = first.logLevel;
  ports = [first.port, ...(first.plainPort === undefined ? [] : [first.plainPort])];
  return { ...first, adminPort, log };
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

/** Ignores a call while the work of an earlier one is running. */
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
