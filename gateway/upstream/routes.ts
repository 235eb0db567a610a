// The route of each upstream: its timeouts, retry budget, concurrency limit, credential and rules. Routes are built once for each
// configuration, so that a request needs a single look-up. Throws operation_unsupported.

import { GatewayError } from '../catalogue/errors.ts';
import type { Forwardable } from '../exchange/exchange.ts';
import { entryOfUpstream } from '../shared/contracts/upstreams.ts';
import type { Access, AccessTable } from './access.ts';
import { createRetryBudget, type RetryBudget } from './attempts/retry-budget.ts';
import type { ConcurrencyLimit } from './concurrency/concurrency-limit.ts';
import type { Credential } from './credentials/credential.ts';
import { createDeadlines, type Deadlines } from './deadlines/deadlines.ts';
import { type Compression, type CompressionRules, createCompression } from './encoding/compression.ts';
import { authorityIn } from './headers/references.ts';
import { type AnswerRule, type AnswerRules, createAnswerRules } from './rules/answers/answer-rules.ts';
import { createRewrite, type RequestRule, type Rewrite } from './rules/requests/rewrite.ts';
import { isGatewayItself } from './targets/addresses.ts';
import type { AnswerInProcess } from './targets/in-process.ts';

interface UpstreamRouteEntry {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
  readonly timeoutMs: number;
  readonly firstByteTimeoutMs?: number | undefined;
  readonly idleTimeoutMs: number;
  readonly maxStreamMs?: number | undefined;
  readonly retry: { readonly attempts: number; readonly budgetPercent: number };
  readonly honoursIdempotencyKey: boolean;
  readonly sendCaller?: boolean | undefined;
  readonly sendClientAddress: boolean;
  readonly compression?: CompressionRules | undefined;
  readonly answers: readonly AnswerRule[];
  readonly requests: readonly RequestRule[];
}

/** Executes an operation that the gateway answers itself. Rejects with the refusal for the client. */
export type Execute = (exchange: Forwardable) => Promise<AnswerInProcess>;

/** The functions that execute operations of the gateway itself, by the address of their upstream (wiring/executors.ts). */
export type Executors = Readonly<Record<string, Execute | undefined>>;

export interface UpstreamRoute {
  /** The audience (`aud`) of assertions for the upstream. All servers of an entry have the same audience. */
  readonly audience: string;
  /** Milliseconds from the start of an exchange to the head of its answer, waiting and retries included. */
  readonly timeoutMs: number;
  /** Milliseconds from the start of an attempt to the head of its answer. */
  readonly firstByteTimeoutMs: number | undefined;
  /** Longest pause in the body of the answer. */
  readonly idleTimeoutMs: number;
  /** The longest time that an answer may take after its head. */
  readonly maxStreamMs: number;
  /** Deadlines of the exchanges in progress. */
  readonly deadlines: Deadlines;
  /** Maximum number of retries per request. */
  readonly retriesMax: number;
  readonly budget: RetryBudget;
  /** Survives reloads. */
  readonly concurrency: ConcurrencyLimit;
  /** Whether the upstream guarantees that a repeated Idempotency-Key runs once. */
  readonly honoursIdempotencyKey: boolean;
  /** Whether requests carry the assertion, which names the caller. */
  readonly sendsCaller: boolean;
  /** Whether requests carry the address of the client. */
  readonly sendClientAddress: boolean;
  /** `host:port` of the targets of the upstream, in both modes. */
  readonly authorities: ReadonlySet<string>;
  /** Executes the operations of an upstream that is the gateway itself; undefined for a service. */
  readonly execute: Execute | undefined;
  /** The gateway's credential at the upstream; undefined if there is none. Survives reloads. */
  readonly credential: Credential | undefined;
  /** The rules that change requests; undefined if the upstream has none. */
  readonly requestRules: Rewrite | undefined;
  /** The rules that judge answers; undefined if the upstream has none. */
  readonly answerRules: AnswerRules | undefined;
  /** How the gateway compresses answers; undefined if it does not. */
  readonly compression: Compression | undefined;
}

/** @param now returns monotonic milliseconds */
export function createUpstreamRoutes(
  entries: Readonly<Record<string, UpstreamRouteEntry>>,
  accesses: Pick<AccessTable, 'find'>,
  executors: Executors,
  now: () => number,
): ReadonlyMap<string, UpstreamRoute> {
  const all = Object.entries(entries).map(([name, entry]): [string, UpstreamRoute] => {
    const { timeoutMs, firstByteTimeoutMs, idleTimeoutMs, maxStreamMs = Number.POSITIVE_INFINITY } = entry;
    const { retry, honoursIdempotencyKey, sendClientAddress } = entry;
    const { concurrency, credential } = accesses.find(name) as Access;
    const shortestMs = Math.min(timeoutMs, firstByteTimeoutMs ?? timeoutMs, idleTimeoutMs, maxStreamMs);
    const isService = !entry.live.some(isGatewayItself);
    return [
      name,
      {
        audience: entryOfUpstream(name),
        timeoutMs,
        firstByteTimeoutMs,
        idleTimeoutMs,
        maxStreamMs,
        deadlines: createDeadlines(shortestMs),
        retriesMax: retry.attempts,
        budget: createRetryBudget(retry.budgetPercent, now),
        concurrency,
        honoursIdempotencyKey,
        sendsCaller: entry.sendCaller ?? credential === undefined,
        sendClientAddress,
        authorities: new Set([...entry.live, ...(entry.test ?? [])].flatMap((one) => authorityIn(one) ?? [])),
        execute: isService ? undefined : (executors[entry.live[0] ?? ''] ?? rejectUnsupported),
        credential,
        requestRules: entry.requests.length === 0 ? undefined : createRewrite(entry.requests),
        answerRules: entry.answers.length === 0 ? undefined : createAnswerRules(entry.answers),
        compression: createCompression(entry.compression),
      },
    ];
  });
  return new Map(all);
}

async function rejectUnsupported(): Promise<never> {
  throw new GatewayError('operation_unsupported');
}
