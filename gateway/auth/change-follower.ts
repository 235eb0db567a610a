// Follows the store's change stream: what changed reaches this process at once where the store announces it, else within one poll,
// and whether the store can be read is known here.

import type { Change, KeyStore } from './store/store.ts';

const PAGE = 1000;

export interface ChangeFollowerOptions {
  readonly audit: Pick<KeyStore['audit'], 'since' | 'subscribe'>;
  readonly pollMs: number;
  now(): number;
  onChange(change: Change): void;
  /** The stream begins anew: anything may have changed. */
  onReset(): void;
  /** After every poll, whether or not it succeeded. */
  onPolled(): void;
  /** The store cannot be read any more, for this reason; or it can again. */
  onHealth?: ((reason: string | undefined) => void) | undefined;
}

export interface ChangeFollower {
  /** Why the store cannot be read at the moment; undefined while it can. */
  failure(): Error | undefined;
  /** Someone else's attempt to read the store failed; the next successful poll ends the failure. */
  noteFailure(cause: unknown): void;
  /** When the stream was last known to be read to its end, epoch milliseconds. */
  readAtMs(): number;
  /** Every change up to this sequence number has been passed to `onChange`; undefined: the stream was not read yet. */
  position(): number | undefined;
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
  let announced = false;

  function conclude(result: Error | undefined): void {
    const isNews = (result === undefined) !== (failure === undefined);
    failure = result;
    if (isNews) options.onHealth?.(result?.message);
  }

  function noteFailure(cause: unknown): void {
    conclude(cause instanceof Error ? cause : new Error(String(cause)));
  }

  async function readOnce(): Promise<void> {
    const startedAtMs = now();
    try {
      await reader.readToEnd();
      readAtMs = startedAtMs;
      conclude(undefined);
    } catch (cause) {
      noteFailure(cause);
    }
    onPolled();
  }

  async function poll(): Promise<void> {
    if (polling) return;
    polling = true;
    do {
      announced = false;
      await readOnce();
      // What was announced meanwhile may have been written after the reading: however many there were, one more poll sees them all.
    } while (announced);
    polling = false;
  }

  const unsubscribe = options.audit.subscribe(() => {
    announced = true;
    void poll();
  });
  // Announcements may be lost, so the timer alone has to be quick enough for what is promised.
  const timer = setInterval(poll, pollMs).unref();
  void poll();

  return {
    failure: () => failure,
    noteFailure,
    readAtMs: () => readAtMs,
    position: reader.position,
    generation: reader.generation,
    stop() {
      unsubscribe();
      clearInterval(timer);
    },
  };
}

function createStreamReader({
  audit,
  onChange,
  onReset,
}: Pick<ChangeFollowerOptions, 'audit' | 'onChange' | 'onReset'>) {
  let position: number | undefined;
  let generation = 0;

  async function readToEnd(): Promise<void> {
    for (;;) {
      // The first read goes beyond every sequence number: the past is of no interest, only where the stream ends.
      const { latest, changes } = await audit.since(position ?? Number.MAX_SAFE_INTEGER, PAGE);
      if (position === undefined || latest < position) {
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

  return { readToEnd, position: () => position, generation: () => generation };
}
