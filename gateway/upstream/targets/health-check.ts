// Checks the health of one target at intervals, each time on its own connection. The verdict changes only after several equal results in a
// row.

import { ask } from '../../http1/client/ask.ts';
import type { Pool } from '../../http1/client/pool.ts';
import { startDeadline } from '../../shared/deadline.ts';

export interface HealthRules {
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Good answers in a row that make an unhealthy target healthy. */
  readonly healthyAfter: number;
  /** Failed checks in a row that make a target unhealthy. */
  readonly unhealthyAfter: number;
  /** The only good status; default: 200 to 299. */
  readonly status?: number | undefined;
}

export type CheckResult = 'passed' | 'failed';

export interface LastCheck {
  readonly at: string;
  readonly result: CheckResult;
  /** Status of the answer; undefined if no answer came. */
  readonly status?: number;
}

export interface HealthCheck {
  last(): LastCheck | undefined;
  /** Stops immediately. A check in progress reports no result. */
  stop(): void;
}

interface HealthCheckOptions {
  /** The initial verdict. */
  readonly isHealthy: boolean;
  /**
   * Opens a connection to the current origin of the target, outside its pool, because a check must not fail when all connections of the
   * pool are in use.
   */
  connect(): Pool;
  /** Epoch milliseconds. */
  now(): number;
  onResult(result: CheckResult): void;
  /** Called only when the verdict changes. */
  onVerdict(isHealthy: boolean): void;
}

/** The random deviation of each check, as a part of the interval, because many gateways must not check at the same time. */
const JITTER = 0.1;

export function createHealthCheck(rules: HealthRules, options: HealthCheckOptions): HealthCheck {
  let { isHealthy } = options;
  /** Number of results in a row that contradict the verdict. */
  let against = 0;
  let last: LastCheck | undefined;
  let timer = setTimeout(check, Math.random() * JITTER * rules.intervalMs).unref();
  const stopped = new AbortController();

  async function check(): Promise<void> {
    const startedAt = performance.now();
    const status = await statusOf(rules, options.connect, stopped.signal);
    if (stopped.signal.aborted) return;
    note(status);
    const pause = rules.intervalMs * (1 - JITTER + 2 * JITTER * Math.random());
    timer = setTimeout(check, Math.max(0, pause - (performance.now() - startedAt))).unref();
  }

  function note(status: number | undefined): void {
    const result = isGood(rules, status) ? 'passed' : 'failed';
    last = { at: new Date(options.now()).toISOString(), result, ...(status !== undefined && { status }) };
    options.onResult(result);
    if ((result === 'passed') === isHealthy) {
      against = 0;
      return;
    }
    against += 1;
    if (against < (isHealthy ? rules.unhealthyAfter : rules.healthyAfter)) return;
    against = 0;
    isHealthy = !isHealthy;
    options.onVerdict(isHealthy);
  }

  return {
    last: () => last,
    stop() {
      clearTimeout(timer);
      stopped.abort();
    },
  };
}

function isGood({ status: expected }: HealthRules, status: number | undefined): boolean {
  if (status === undefined) return false;
  return expected === undefined ? status >= 200 && status < 300 : status === expected;
}

/** Resolves with the status of the answer; undefined if no answer came. Never rejects. */
async function statusOf(
  { path, timeoutMs }: HealthRules,
  connect: () => Pool,
  stopped: AbortSignal,
): Promise<number | undefined> {
  const connection = connect();
  const late = new AbortController();
  const deadline = startDeadline(timeoutMs, () => late.abort());
  try {
    const signal = AbortSignal.any([stopped, late.signal]);
    const headers = ['user-agent', 'api-gateway health check', 'accept', '*/*'];
    // Only the status is needed, so the body is not read.
    const { status } = await ask(connection, { method: 'GET', path, headers, body: null }, signal, false);
    return status;
  } catch {
    return undefined;
  } finally {
    deadline.stop();
    connection.destroy();
  }
}
