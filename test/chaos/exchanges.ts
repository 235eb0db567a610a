// The requests of clients, and the values that the answer has to show.

import type { Outcome } from './sending.ts';

export type Kind = 'get' | 'list' | 'create' | 'update' | 'mail';

export interface Exchange {
  readonly kind: Kind;
  readonly organization: string;
  /** Of a write: its name in the journal. */
  readonly write?: string;
  /** Its `Idempotency-Key`, if it has one. */
  readonly key?: string;
  /** Whether its upstream does not honour keys. */
  readonly isPlain?: boolean;
  /** The entry that it is about, if that existed before. */
  readonly entry?: string;
  /** Of a read: the version, or of a list the ordinal of its first entry, that this client has seen already. */
  readonly atLeast?: number;
  /** Epoch milliseconds, both. */
  readonly sentAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
}

/** The error object, or undefined. */
export function errorOf(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export const isSuccess = ({ outcome }: Pick<Exchange, 'outcome'>): boolean =>
  outcome.kind === 'answered' && outcome.status < 300;

/**
 * Whether a client got less than it requested, and did not leave by itself. One that repeats a keyed write as soon as it has been answered
 * may get that the key is in use: its answer is about to be kept.
 */
export const isFailure = (exchange: Exchange): boolean =>
  !isSuccess(exchange) && exchange.outcome.kind !== 'left' && labelOf(exchange) !== '409 idempotency_key_in_use';

/** How an outcome is counted: `200`, `504 upstream_timeout`, `cut`. */
export function labelOf({ outcome }: Pick<Exchange, 'outcome'>): string {
  if (outcome.kind !== 'answered') return outcome.kind;
  if (outcome.status < 300) return String(outcome.status);
  return `${outcome.status} ${String(errorOf(outcome.body)?.code ?? '(no error object)')}`;
}
