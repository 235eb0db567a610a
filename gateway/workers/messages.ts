// What the primary and its workers say to each other.

import type { Mistake } from '../config-errors.ts';
import type { MetricSnapshot } from '../observe/aggregate.ts';
import type { LogLevel } from '../observe/log.ts';

export type ToWorker =
  /** In answer to `here`: which one it is, whether it is the one that prepares demo data, and under which keys (base64) all of
   * them give sessions of TLS to clients. */
  | { readonly kind: 'begin'; readonly worker: number; readonly isFirst: boolean; readonly ticketKeys: string }
  | { readonly kind: 'reload' }
  /** End. `handOver`: others go on listening, so take no more connections from now on. */
  | { readonly kind: 'stop'; readonly handOver: boolean }
  | { readonly kind: 'question'; readonly id: number; readonly question: WorkerQuestion };

export type FromWorker =
  /** Messages are heard from now on. */
  | { readonly kind: 'here' }
  | ({ readonly kind: 'ready' } & Ready)
  | ({ readonly kind: 'failed' } & WorkerFailure)
  /** Without a value: it could not be answered. */
  | { readonly kind: 'answer'; readonly id: number; readonly given?: { readonly value?: unknown } }
  /** The last thing that is said: everything that was counted. */
  | { readonly kind: 'farewell'; readonly metrics: readonly MetricSnapshot[] };

/** It takes requests. */
export interface Ready {
  readonly port: number;
  readonly plainPort: number | undefined;
  readonly isTls: boolean;
  readonly operations: number;
  /** If it was the one to prepare demo data, and there is any. */
  readonly demoKey: string | undefined;
  readonly logLevel: LogLevel;
  /** How long it may take to finish what it has begun, once told to end. */
  readonly drainMs: number;
}

/** Why it does not. */
export interface WorkerFailure {
  readonly message: string;
  /** If the configuration is to blame. */
  readonly mistakes?: readonly Mistake[] | undefined;
}

/** What operators may want to know of a worker, or have done by one. */
export type WorkerQuestion =
  | { readonly about: 'readiness' | 'status' | 'metrics' | 'sample' | 'versions' }
  | { readonly about: 'exchanges'; readonly id: string }
  | { readonly about: 'limits'; readonly organization: string }
  | { readonly about: 'limits reset'; readonly organization: string; readonly by: string };
