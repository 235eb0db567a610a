// The instances of the gateway: their names, and what one process asks all processes of all instances: about recent exchanges, and to send
// a refused credential again. Each answers for itself, and every answer comes from another process, which may have another version: nothing
// is taken for granted about it.

import { hostname } from 'node:os';
import type { ConsoleAction } from './console-action.ts';
import { type ExchangeFilter, type ExchangeLine, type ExchangeOwner, inOrderOfExchanges } from './exchange-filter.ts';

/** Host and port of the public listener. A port that the system chooses names nothing, so the process stands in its place. */
export function instanceName(port: number): string {
  return `${hostname()}:${port === 0 ? `process ${process.pid}` : port}`;
}

export type FleetQuestion =
  /** Answered with the lines of exchanges that the filter lets through. */
  | { readonly about: 'recent'; readonly filter: ExchangeFilter }
  /** Answered with the lines of the exchanges with this id or client request id. */
  | ({ readonly about: 'exchange'; readonly id: string } & ExchangeOwner)
  /** Answered with an UpstreamRetry; undefined for an unknown upstream. */
  | { readonly about: 'upstream retry'; readonly upstream: string }
  /** What an `upstream retry` would be answered with. */
  | { readonly about: 'upstream refused'; readonly upstream: string }
  | AttentionQuestion;

/** What the process of the console answers alone, for all instances: it finds causes and keeps silences. */
type AttentionQuestion =
  /** Answered with an Attention. */
  | { readonly about: 'attention' }
  /** Answered with an ActionAnswer. */
  | { readonly about: 'silence'; readonly action: ConsoleAction; readonly requestId: string; readonly by: string };

/** Asks all processes. Never rejects, and resolves with what has come after a second and a half at the latest. */
export type AskFleet = (question: FleetQuestion) => Promise<readonly unknown[]>;

/** What a process answers from. */
export interface FleetSources {
  /** Recorded exchanges that a filter lets through, the newest first. */
  recent(filter: ExchangeFilter): Promise<readonly ExchangeLine[]>;
  /** Recorded exchanges with this id; empty if none is recorded. */
  exchanges(id: string, owner?: ExchangeOwner): Promise<readonly ExchangeLine[]>;
  /** Lets the refused credential of an upstream be sent again. Returns undefined for an unknown upstream. */
  retryCredential(upstream: string): Promise<UpstreamRetry | undefined>;
  /** What `retryCredential` would return. Changes nothing. */
  refusedUpstream(upstream: string): Promise<UpstreamRetry | undefined>;
}

/** Returns undefined for a question that another process answers, or that this version does not know. */
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
 * How long an answer is waited for. A process that does not answer takes nothing from the answer of its instance, and an instance nothing
 * from that of the others: who asks waits longer than who is asked.
 */
export const PATIENCE_MS = { worker: 700, instance: 1000, primary: 1400 } as const;

/** The lines in the answers, the newest first, each exchange once. */
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
  /** The upstream, if its credential was refused and is sent again; otherwise empty. */
  readonly retried: readonly string[];
}

/** What the answers come to; undefined if none of the processes knows the upstream. */
export function retryIn(answers: readonly unknown[]): UpstreamRetry | undefined {
  const lists = answers.flatMap((answer) => {
    const retried: unknown = typeof answer === 'object' && answer !== null && 'retried' in answer && answer.retried;
    return Array.isArray(retried) ? [retried.filter((name) => typeof name === 'string')] : [];
  });
  return lists.length === 0 ? undefined : { retried: [...new Set(lists.flat())] };
}
