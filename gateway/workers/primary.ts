// The process that holds the workers and both listeners, and serves no request itself: it has connections taken by the workers in turn,
// keeps as many of them as there should be, and answers operators for all of them.

import { endOnCrash } from '../commands/crash.ts';
import { type CommandEnvironment, openSecrets } from '../commands/environment.ts';
import type { Started } from '../commands/start.ts';
import type { Settings } from '../config/load.ts';
import { createConsole } from '../console/console.ts';
import { closeAtOnce, listen } from '../edge/server.ts';
import { newTicketKeys } from '../edge/tls/secure.ts';
import { onFault } from '../faults.ts';
import { createAdminServer } from '../observe/admin.ts';
import { createJoinedOutput, keepsWritesTogether, standardOutput } from '../observe/joined-output.ts';
import { createLog, type Log } from '../observe/log.ts';
import { DURATION_BUCKETS } from '../observe/metrics.ts';
import { DROPPED } from '../observe/pending.ts';
import { createWorkerMetrics, type MetricsOfWorker, type WorkerMetrics } from '../observe/worker-metrics.ts';
import { createForwardClock } from '../wiring/clock.ts';
import type { Ready } from './messages.ts';
import { createWorkersOperators } from './operators.ts';
import { startWorkerProcess, type WorkerProcess } from './process.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';

/** What a large contract needs, many times over. */
const START_MS = 60_000;
/** An operator waits for it. */
const ANSWER_MS = 1000;
/** Closing connections to Redis and to upstreams, beyond what draining may take. */
const CLOSE_MS = 3000;
/** After so long at the end, whoever reads the log has stopped reading. */
const LAST_LINES_MS = 2000;
/** Of lines of this process that wait for standard output: some thousand. */
const OWN_LINES_BYTES_MAX = 1_048_576;
const BACK_OFF = { steadyMs: 10_000, firstMs: 500, longestMs: 30_000 };

/** Resolves when all workers take requests. Rejects with ConfigError, or with a sentence, when it cannot be done. */
export async function startPrimary(surroundings: CommandEnvironment, settings: Settings): Promise<Started> {
  const { now } = surroundings;
  const metrics = createWorkerMetrics(() => crew.processes().filter((worker) => worker.state() === 'serving').length);
  const output = createJoinedOutput(standardOutput(), {
    bytesMax: OWN_LINES_BYTES_MAX,
    onDropped: metrics.logLinesDropped,
    droppedLine: (dropped) =>
      `${JSON.stringify({ level: 40, time: now(), worker: 'primary', dropped, msg: DROPPED })}\n`,
  });
  const writesItself = keepsWritesTogether();
  const log = createLog({ level: 'info', now, destination: { write: output.write }, worker: 'primary' });
  const measured = new WeakMap<WorkerProcess, MetricsOfWorker>();
  const outputs = new Set<Promise<void>>();
  // Made anew with each start, and never written anywhere.
  const ticketKeys = newTicketKeys().toString('base64');
  let ending = false;

  function start(number: number, isFirst: boolean): WorkerProcess {
    const ofWorker = metrics.of(number);
    const worker = startWorkerProcess({
      number,
      isFirst,
      ticketKeys,
      startMs: START_MS,
      answerMs: ANSWER_MS,
      closeMs: CLOSE_MS,
      writesItself,
      onFarewell: ofWorker.note,
      now,
    });
    measured.set(worker, ofWorker);
    if (worker.output) {
      const written = output.join(worker.output).finally(() => outputs.delete(written));
      outputs.add(written);
    }
    void worker.ended.then(ofWorker.end);
    return worker;
  }

  const crew = createWorkerPool({
    size: settings.workers,
    start,
    backOff: BACK_OFF,
    now,
    ...reportTo(log, metrics),
  });
  const operators = createWorkersOperators({
    crew,
    metrics,
    metricsOf: (worker) => measured.get(worker),
    isEnding: () => ending,
  });
  const adminServer = createAdminServer({
    host: settings.adminHost,
    token: openSecrets(surroundings, settings).read('admin_token'),
    ...operators,
    console: createConsole({ ...operators, bounds: DURATION_BUCKETS, now: createForwardClock(now) }),
  });
  const adminPort = await listen(adminServer, settings.adminHost, settings.adminPort);

  /** Who is told to end meanwhile has not failed to start. */
  async function begun(): Promise<Ready> {
    try {
      return await crew.begin().finally(output.flush);
    } catch (error) {
      if (ending) return new Promise(() => undefined);
      throw error;
    }
  }

  async function end(): Promise<void> {
    if (ending) return;
    ending = true;
    log.logger.info('draining');
    await crew.end();
    await closeAtOnce(adminServer);
    await Promise.race([Promise.all(outputs), new Promise((resolve) => setTimeout(resolve, LAST_LINES_MS))]);
    output.flush();
    surroundings.exit(0);
  }

  onFault((thrown) => log.logger.error({ err: thrown }, 'an error outside a request: its connection was ended'));
  endOnCrash(surroundings, { logger: log.logger, flush: output.flush });
  // Before anybody serves: the first worker takes requests while the others start, and a signal that nobody handles ends the process.
  surroundings.onSignal(() => void end());
  surroundings.onReload(() => {
    log.logger.info('asked to load the configuration anew');
    for (const worker of crew.processes()) worker.reload();
  });
  surroundings.onRestart(oneAtATime(() => roll(crew, log)));
  const first = await begun();
  log.logger.level = first.logLevel;
  return { ...first, demoKey: first.demoKey, adminPort };
}

/** What operators learn of workers that come and go. */
function reportTo({ logger }: Log, metrics: WorkerMetrics) {
  return {
    onDeath(
      { number, pid }: WorkerProcess,
      how: { readonly code: number | null; readonly signal: string | null },
      delayMs: number,
    ) {
      metrics.restarted();
      const { code, signal } = how;
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

async function roll(crew: WorkerPool, { logger }: Log): Promise<void> {
  logger.info('asked to replace every worker');
  if (await crew.roll()) logger.info('every worker was replaced');
  else logger.error('not every worker was replaced; those before go on');
}

/** Asked again while it is under way, it goes on as it is. */
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
