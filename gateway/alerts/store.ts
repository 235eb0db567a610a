// The interface of the alert store, which contains outboxes and silences. One of the instances that share a store is the speaker, which
// sends the messages of all.

import type { Awaitable } from '../shared/awaitable.ts';

/** Causes that are not reported for a time. */
export interface Silence {
  /** A pattern of ids. There is one silence for a pattern. */
  readonly causes: string;
  /** Epoch milliseconds. */
  readonly untilMs: number;
  readonly by: string;
  readonly reason: string;
}

/** The answer to an instance that has asked for the lease. */
interface SpeakerLease {
  /** Whether this instance is the speaker. */
  readonly speaks: boolean;
  /** The outboxes that the speaker has written last; undefined if there are none. */
  readonly outboxes: string | undefined;
  /** The outboxes that other instances have handed over and that the speaker has not written yet. */
  readonly handed?: readonly string[];
  readonly silences: readonly Silence[];
}

/** Every method rejects while the store cannot be reached. */
export interface AlertStore {
  /** Renews the lease of the speaker, or takes it if `mayBegin` is true, unless another instance has it. */
  take(mayBegin: boolean): Awaitable<SpeakerLease>;
  /** Leaves outboxes of this instance, which is not the speaker, to the speaker. */
  handOver(outboxes: string): Awaitable<void>;
  /**
   * Writes the outboxes, which include the outboxes handed over. Writes nothing and returns false if another instance has the lease by now.
   */
  write(outboxes: string): Awaitable<boolean>;
  setSilence(silence: Silence): Awaitable<void>;
  /** Returns false if there was no such silence. */
  endSilence(causes: string): Awaitable<boolean>;
  /** Gives the lease back. Never rejects. */
  close(): Awaitable<void>;
}

/** Returns the silences that have not ended. */
export function lastingSilences(silences: readonly Silence[], nowMs: number): Silence[] {
  return silences.filter(({ untilMs }) => untilMs > nowMs);
}
