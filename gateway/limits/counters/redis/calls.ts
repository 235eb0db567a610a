// The script calls in progress on one connection, each with a deadline.

import type { Redis } from '../../../redis/client.ts';
import { afterReading } from '../../../shared/deadline.ts';
import { createDenseSet } from '../../../shared/dense-set.ts';
import { type Machine, REAL_MACHINE } from '../../../shared/machine.ts';
import { createRunDecisions, type ScriptReply } from './window-script.ts';

export interface Calls {
  /** Decides a batch; see `RunDecisions`. Rejects at the deadline; a late reply is ignored. */
  run(clockMs: number, encodedCharges: string): Promise<ScriptReply>;
  /** Rejects all calls in progress at once, before their deadlines. */
  failAll(cause: Error): void;
}

interface Call {
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly fail: (cause: Error) => void;
}

/**
 * Creates the calls of one connection. One timer, set for the deadline of the oldest call in progress, serves all calls, because a timer
 * for each call would cost more.
 *
 * @param deadlineMs longest time that a call waits for its reply
 * @param onFailure called for each call that has failed
 */
export function createCalls(
  client: Redis,
  deadlineMs: number,
  onFailure: (cause: Error) => void,
  machine: Machine = REAL_MACHINE,
): Calls {
  const { performance, setTimeout } = machine;
  const runDecisions = createRunDecisions(client);
  const waiting = createDenseSet<Call>();
  let number = 0;
  let isTimed = false;

  function watch(delayMs: number): void {
    isTimed = true;
    // The delay is at least 1 ms, because after a pause of this process the deadline may have passed already. The timer is unreferenced,
    // because the connection keeps the process alive while a call waits.
    const ms = Math.max(1, Math.ceil(delayMs));
    setTimeout(afterReading, ms, performance.now() + ms, expire, machine).unref();
  }

  function expire(nowMs: number): void {
    isTimed = false;
    let oldestAt = Number.POSITIVE_INFINITY;
    for (const { startedAt, fail } of waiting.all()) {
      if (startedAt + deadlineMs <= nowMs) fail(new Error(`no answer within ${deadlineMs} ms`));
      else oldestAt = Math.min(oldestAt, startedAt);
    }
    if (oldestAt < Number.POSITIVE_INFINITY) watch(oldestAt + deadlineMs - performance.now());
  }

  return {
    run(clockMs, encodedCharges) {
      return new Promise((resolve, reject) => {
        function fail(cause: Error): void {
          if (!waiting.remove(entry)) return;
          reject(cause);
          onFailure(cause);
        }
        const entry = waiting.add({ startedAt: performance.now(), fail });
        if (!isTimed) watch(deadlineMs);
        number += 1;
        runDecisions(number, clockMs, encodedCharges).then((reply) => {
          if (waiting.remove(entry)) resolve(reply);
        }, fail);
      });
    },
    failAll(cause) {
      for (const { fail } of waiting.all()) fail(cause);
    },
  };
}
