// Health checks of one target: asked again and again, on connections of their own, whether it answers. Several answers in a row are needed
// to change a verdict.

import { ask } from './http1/ask.ts';
import type { Pool } from './http1/pool.ts';

export interface HealthRules {
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Good answers in a row after which a target that failed is healthy again. */
  readonly healthyAfter: number;
  /** Failed checks in a row after which it is unhealthy. */
  readonly unhealthyAfter: number;
  /** The only good status; absent: every one from 200 to 299. */
  readonly status?: number | undefined;
}

export type CheckResult = 'passed' | 'failed';

export interface LastCheck {
  readonly at: string;
  readonly result: CheckResult;
  /** Of the answer; absent: there was none. */
  readonly status?: number;
}

export interface HealthCheck {
  last(): LastCheck | undefined;
  /** At once: a check that is under way has no result. */
  stop(): void;
}

export interface HealthCheckOptions {
  /** The verdict to begin with. */
  readonly isHealthy: boolean;
  /** A connection of its own, to wherever the target is now: a target whose connections are all in use is not ill. */
  connect(): Pool;
  /** Epoch milliseconds. */
  now(): number;
  onResult(result: CheckResult): void;
  /** Only when the verdict has changed. */
  onVerdict(isHealthy: boolean): void;
}

/** Part of the interval by which each check is early or late, so that many gateways do not ask at once. */
const JITTER = 0.1;

export function createHealthCheck(rules: HealthRules, options: HealthCheckOptions): HealthCheck {
  let { isHealthy } = options;
  /** Results in a row that speak against the verdict. */
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

/** The status of the answer; undefined: none came, for whatever reason. Never rejects. */
async function statusOf(
  { path, timeoutMs }: HealthRules,
  connect: () => Pool,
  stopped: AbortSignal,
): Promise<number | undefined> {
  const connection = connect();
  try {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]);
    const headers = ['user-agent', 'api-gateway health check', 'accept', '*/*'];
    // What the body says does not matter, however long it is, or whether it ends at all.
    const { status } = await ask(connection, { method: 'GET', path, headers, body: null }, signal, false);
    return status;
  } catch {
    return undefined;
  } finally {
    connection.destroy();
  }
}
