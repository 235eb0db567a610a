// How each upstream is sent to, under one configuration: made ready at boot, so that a request looks once.

import type { Access, Accesses } from './access.ts';
import { type Budget, createBudget } from './budget.ts';
import type { Guard } from './guarded.ts';
import type { Lane } from './lane.ts';
import { createWatch, type Watch } from './watch.ts';

export interface WayEntry {
  readonly timeoutMs: number;
  readonly firstByteTimeoutMs?: number | undefined;
  readonly idleTimeoutMs?: number | undefined;
  readonly retry: { readonly attempts: number; readonly budgetPercent: number };
  readonly honoursIdempotencyKey: boolean;
}

export interface Way {
  /** For one exchange, waiting and retries included. */
  readonly timeoutMs: number;
  /** From the beginning of an attempt to the head of its answer. */
  readonly firstByteTimeoutMs: number | undefined;
  /** Without a byte of the body. */
  readonly idleTimeoutMs: number | undefined;
  /** Of exchanges under way. */
  readonly watch: Watch;
  /** How often a request is sent again at most. */
  readonly repeatsMax: number;
  readonly budget: Budget;
  /** Kept while configurations come and go. */
  readonly lane: Lane;
  /** The upstream itself guarantees that a repeated Idempotency-Key runs once. */
  readonly honoursIdempotencyKey: boolean;
  /** Undefined: the upstream asks for nothing but being sent to. */
  readonly guard: Guard | undefined;
}

/** @param now monotonic milliseconds */
export function createWays(
  entries: Readonly<Record<string, WayEntry>>,
  guards: ReadonlyMap<string, Guard>,
  accesses: Pick<Accesses, 'of'>,
  now: () => number,
): ReadonlyMap<string, Way> {
  const all = Object.entries(entries).map(([name, entry]): [string, Way] => {
    const { timeoutMs, firstByteTimeoutMs, idleTimeoutMs, retry, honoursIdempotencyKey } = entry;
    const shortestMs = Math.min(timeoutMs, firstByteTimeoutMs ?? timeoutMs, idleTimeoutMs ?? timeoutMs);
    const budget = createBudget(retry.budgetPercent, now);
    const guard = guards.get(name);
    const { lane } = accesses.of(name) as Access;
    const times = { timeoutMs, firstByteTimeoutMs, idleTimeoutMs };
    const watch = createWatch(shortestMs);
    return [name, { ...times, watch, repeatsMax: retry.attempts, budget, lane, honoursIdempotencyKey, guard }];
  });
  return new Map(all);
}
