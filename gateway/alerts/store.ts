// The interface of the store of alerts: what receivers were told, and silences. Instances that share it take turns: one speaks for all.

import type { Awaitable } from '../shared/awaitable.ts';

/** Causes that are not told for a time. */
export interface Silence {
  /** A pattern of ids; one silence for each. */
  readonly causes: string;
  /** Epoch milliseconds. */
  readonly untilMs: number;
  readonly by: string;
  readonly reason: string;
}

export interface Turn {
  /** Whether this instance speaks for all. */
  readonly speaks: boolean;
  /** What the speaker has written last; undefined if there is nothing. */
  readonly told: string | undefined;
  readonly silences: readonly Silence[];
}

/** Every method rejects while the store is away. */
export interface AlertStore {
  /** Takes the right to speak, or renews it, unless another instance has it. */
  take(): Awaitable<Turn>;
  /** Writes what receivers were told. Returns false, and writes nothing, if another instance has the right to speak by now. */
  write(told: string): Awaitable<boolean>;
  setSilence(silence: Silence): Awaitable<void>;
  /** Returns false if there was none. */
  endSilence(causes: string): Awaitable<boolean>;
  /** Gives the right to speak back. Never rejects. */
  close(): Awaitable<void>;
}

/** Without those that have ended. */
export function lastingSilences(silences: readonly Silence[], nowMs: number): Silence[] {
  return silences.filter(({ untilMs }) => untilMs > nowMs);
}
