// The names of the instances of the gateway, and the questions of one process to all processes of all instances, about recent exchanges,
// and to send a refused credential again. Each process answers for itself. An answer may come from a process of another version, so nothing
// is taken for granted about it.

import { hostname } from 'node:os';
import type { ConsoleAction } from './console-action.ts';
import { type ExchangeFilter, type ExchangeLine, type ExchangeOwner, inOrderOfExchanges } from './exchange-filter.ts';

/** Returns the name of this instance: the host and the port of the public listener, or the process id if the system chooses the port. */
export function instanceName(port: number): string {
  return `${hostname()}:${port === 0 ? `process ${process.pid}` : port}`;
}

export type FleetQuestion =
  /** Answered with the lines of exchanges that the filter lets through. */
  | { readonly about: 'recent'; readonly filter: ExchangeFilter }
  /** Answered with the lines of the exchanges with this id or client request id. */
  | ({ readonly about: 'exchange'; readonly id: string } & ExchangeOwner)
  /** The answer is an UpstreamRetry; undefined for an unknown upstream. */
  | { readonly about: 'upstream retry'; readonly upstream: string }
  /** The answer is the same as to an `upstream retry`, but nothing is sent again. */
  | { readonly about: 'upstream refused'; readonly upstream: string }
  | AttentionQuestion;

/** Questions about causes and silences. The process of the console answers them for all instances. */
type AttentionQuestion =
  /** Answered with an Attention. */
  | { readonly about: 'attention' }
  /** Answered with an ActionAnswer. */
  | { readonly about: 'silence'; readonly action: ConsoleAction; readonly requestId: string; readonly by: string };

/** Asks all processes. Never rejects. After a second and a half at the latest, resolves with the answers so far. */
export type AskFleet = (question: FleetQuestion) => Promise<readonly unknown[]>;

/** The functions with which a process answers questions. */
export interface FleetSources {
  /** Returns exchanges in memory that match a filter, newest first. */
  recent(filter: ExchangeFilter): Promise<readonly ExchangeLine[]>;
  /** Returns exchanges in memory with this id. */
  exchanges(id: string, owner?: ExchangeOwner): Promise<readonly ExchangeLine[]>;
  /** Sends the refused credential of an upstream again. Returns undefined for an unknown upstream. */
  retryCredential(upstream: string): Promise<UpstreamRetry | undefined>;
  /** Returns the result that `retryCredential` would have. Changes nothing. */
  refusedUpstream(upstream: string): Promise<UpstreamRetry | undefined>;
}

/** Answers a question. Resolves with undefined for a question that another process answers, or that this version does not know. */
export async function answerFleet(sources: FleetSources, question: FleetQuestion): Promise<unknown> {
  switch (question.about) {
    case 'recent':
      return sources.recent(question.filter);
    case 'exchange': {
      const { about: _, id, ...owner } = question;
      return sources.exchanges(id, owner);
    }
    case 'upstream retry':
      return sources.retryCredential(question.upstream);
    case 'upstream refused':
      return sources.refusedUpstream(question.upstream);
    default:
      return undefined;
  }
}

/**
 * How long each process waits for answers. A process waits longer than the processes that it asks, so that if one of these does not answer,
 * the answers of the others still arrive in time. An answer of an instance may need several rounds of questions to its workers; only the
 * first round waits `worker` for a worker that does not answer, and the later ones wait `lateWorker`.
 */
export const PATIENCE_MS = { worker: 400, lateWorker: 50, instance: 1000, primary: 1400 } as const;

/** Returns the lines in the answers, newest first, each exchange once. */
export function exchangesIn(answers: readonly unknown[]): ExchangeLine[] {
  return inOrderOfExchanges(answers.flatMap((answer) => (Array.isArray(answer) ? answer.filter(isLine) : [])));
}

function isLine(value: unknown): value is ExchangeLine {
  if (typeof value !== 'object' || value === null) return false;
  const { request_id: id, time } = value as ExchangeLine;
  return typeof id === 'string' && Number.isSafeInteger(time) && Math.abs(Number(time)) <= LATEST_MS;
}

/** The last moment that a Date can be. */
const LATEST_MS = 8.64e15;

export interface UpstreamRetry {
  /** The upstream, if its credential was refused and is sent again; empty otherwise. */
  readonly retried: readonly string[];
}

/** Combines the answers to an `upstream retry`; undefined if no process knows the upstream. */
export function retryIn(answers: readonly unknown[]): UpstreamRetry | undefined {
  const lists = answers.flatMap((answer) => {
    const retried: unknown = typeof answer === 'object' && answer !== null && 'retried' in answer && answer.retried;
    return Array.isArray(retried) ? [retried.filter((name) => typeof name === 'string')] : [];
  });
  return lists.length === 0 ? undefined : { retried: [...new Set(lists.flat())] };
}
