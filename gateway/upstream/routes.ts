// How each upstream is sent to, under one configuration: made ready at boot, so that a request looks once.

import type { Access, Accesses } from './access.ts';
import type { UpstreamPolicies } from './apply-policies.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { createDeadlines, type Deadlines } from './deadlines.ts';
import { createRetryBudget, type RetryBudget } from './retry-budget.ts';

export interface UpstreamRouteEntry {
  readonly timeoutMs: number;
  readonly firstByteTimeoutMs?: number | undefined;
  readonly idleTimeoutMs?: number | undefined;
  readonly retry: { readonly attempts: number; readonly budgetPercent: number };
  readonly honoursIdempotencyKey: boolean;
}

export interface UpstreamRoute {
  /** For one exchange, waiting and retries included. */
  readonly timeoutMs: number;
  /** From the beginning of an attempt to the head of its answer. */
  readonly firstByteTimeoutMs: number | undefined;
  /** Without a byte of the body. */
  readonly idleTimeoutMs: number | undefined;
  /** Of exchanges under way. */
  readonly watch: Deadlines;
  /** How often a request is sent again at most. */
  readonly repeatsMax: number;
  readonly budget: RetryBudget;
  /** Kept while configurations come and go. */
  readonly lane: ConcurrencyLimit;
  /** The upstream itself guarantees that a repeated Idempotency-Key runs once. */
  readonly honoursIdempotencyKey: boolean;
  /** Undefined: the upstream asks for nothing but being sent to. */
  readonly guard: UpstreamPolicies | undefined;
}

/** @param now monotonic milliseconds */
export function createUpstreamRoutes(
  entries: Readonly<Record<string, UpstreamRouteEntry>>,
  guards: ReadonlyMap<string, UpstreamPolicies>,
  accesses: Pick<Accesses, 'of'>,
  now: () => number,
): ReadonlyMap<string, UpstreamRoute> {
  const all = Object.entries(entries).map(([name, entry]): [string, UpstreamRoute] => {
    const { timeoutMs, firstByteTimeoutMs, idleTimeoutMs, retry, honoursIdempotencyKey } = entry;
    const shortestMs = Math.min(timeoutMs, firstByteTimeoutMs ?? timeoutMs, idleTimeoutMs ?? timeoutMs);
    const budget = createRetryBudget(retry.budgetPercent, now);
    const guard = guards.get(name);
    const { lane } = accesses.of(name) as Access;
    const times = { timeoutMs, firstByteTimeoutMs, idleTimeoutMs };
    const watch = createDeadlines(shortestMs);
    return [name, { ...times, watch, repeatsMax: retry.attempts, budget, lane, honoursIdempotencyKey, guard }];
  });
  return new Map(all);
}
