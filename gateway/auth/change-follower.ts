// Follows the store's change stream: what changed reaches this process within one poll, and whether the store can be read is known here.

import type { Change, KeyStore } from './store.ts';

const PAGE = 1000;

export interface ChangeFollowerOptions {
  readonly audit: Pick<KeyStore['audit'], 'since'>;
  readonly pollMs: number;
  now(): number;
  onChange(change: Change): void;
  /** The stream begins anew: anything may have changed. */
  onReset(): void;
  /** After every poll, whether or not it succeeded. */
  onPolled(): void;
}

export interface ChangeFollower {
  /** Why the store cannot be read at the moment; undefined while it can. */
  failure(): Error | undefined;
  /** Someone else's attempt to read the store failed; the next successful poll ends the failure. */
  noteFailure(cause: unknown): void;
  /** When the stream was last known to be read to its end, epoch milliseconds. */
  readAtMs(): number;
  /** Changes whenever anything was dropped: what was looked up before then may be out of date. */
  generation(): number;
  stop(): void;
}

/** Starts to follow at once; the timer does not keep the process alive. */
export function createChangeFollower({ pollMs, now, onPolled, ...options }: ChangeFollowerOptions): ChangeFollower {
  const reader = createStreamReader(options);
  let failure: Error | undefined;
  let readAtMs = now();
  let polling = false;

  function noteFailure(cause: unknown): void {
    failure = cause instanceof Error ? cause : new Error(String(cause));
  }

  async function poll(): Promise<void> {
    if (polling) return;
    polling = true;
    const startedAtMs = now();
    try {
      await reader.readToEnd();
      readAtMs = startedAtMs;
      failure = undefined;
    } catch (cause) {
      noteFailure(cause);
    }
    polling = false;
    onPolled();
  }

  const timer = setInterval(poll, pollMs).unref();
  void poll();

  return {
    failure: () => failure,
    noteFailure,
    readAtMs: () => readAtMs,
    generation: reader.generation,
    stop: () => clearInterval(timer),
  };
}

function createStreamReader({
  audit,
  onChange,
  onReset,
}: Pick<ChangeFollowerOptions, 'audit' | 'onChange' | 'onReset'>) {
  // Beyond every sequence number: the first read drops everything and goes on from the latest.
  let position = Number.MAX_SAFE_INTEGER;
  let generation = 0;

  async function readToEnd(): Promise<void> {
    for (;;) {
      const { latest, changes } = await audit.since(position, PAGE);
      if (latest < position) {
        // Also when the store was wiped or restored under a running gateway.
        generation += 1;
        onReset();
        position = latest;
        return;
      }
      for (const change of changes) {
        generation += 1;
        onChange(change);
        position = change.sequence;
      }
      if (changes.length < PAGE) return;
    }
  }

  return { readToEnd, generation: () => generation };
}
