// Prepares a request to an upstream that has rules or a credential: applies the request rules, takes the lock of its record, and waits for
// the credential. Then each attempt judges its answer (upstream/attempts/judged-attempt.ts).

import type { Forwardable } from '../exchange/exchange.ts';
import type { Outgoing } from '../http1/client/wire.ts';
import { Attempts, type AttemptsOptions, type JudgeOf, type SendRequest } from './attempts/attempts.ts';
import { beforeSending, waitBeforeSending } from './attempts/before-sending.ts';
import { JudgedAttempt } from './attempts/judged-attempt.ts';
import type { UpstreamRoute } from './routes.ts';
import type { RecordLocks } from './rules/requests/record-locks.ts';

/**
 * A process that crashes, or that has lost Redis, cannot release its lock. Redis then ends the lock this long after the deadline of the
 * request, because the service may still execute the request for a while.
 */
const LEASE_MARGIN_MS = 5000;

const sendFirst: SendRequest = (_, relay) => relay.judge?.sendNext(relay);

export interface JudgedOptions extends AttemptsOptions {
  readonly locks: Pick<RecordLocks, 'lockOf'>;
  /** Makes the request without rules and credential. Called for each attempt. */
  outgoing(attempts: Attempts): Outgoing;
}

/**
 * Resolves when the exchange has ended. Throws upstream_overloaded, upstream_timeout, upstream_auth_failed, and the errors of the rules and
 * the relay.
 *
 * @param deadlineAt as `performance.now()` counts
 * @param assertion undefined if the upstream is not told who calls
 */
export async function sendJudged(
  options: JudgedOptions,
  exchange: Forwardable,
  route: UpstreamRoute,
  deadlineAt: number,
  assertion: string | undefined,
): Promise<void> {
  const { operation } = exchange;
  const change = route.requestRules?.(operation);
  const changed = change && (await beforeSending(exchange, deadlineAt, (over) => change(exchange, over)));
  // The client has left.
  if (change !== undefined && changed === undefined) return;
  const read = changed?.recordRead;
  const lock = read && options.locks.lockOf(`${operation.upstream} ${read.record}`);
  try {
    if (lock !== undefined) {
      const take = (over: AbortSignal) => lock.take(deadlineAt - performance.now() + LEASE_MARGIN_MS, over);
      if (!(await waitBeforeSending(exchange, deadlineAt, take))) return;
    }
    const headerReady = route.credential?.untilReady();
    if (headerReady !== undefined && !(await waitBeforeSending(exchange, deadlineAt, () => headerReady))) return;
    const judgeOf: JudgeOf = (target, attempts) => new JudgedAttempt(options.outgoing, changed, target, attempts);
    await new Attempts(options, exchange, route, deadlineAt, assertion, sendFirst, judgeOf).run();
  } finally {
    lock?.release();
  }
}
