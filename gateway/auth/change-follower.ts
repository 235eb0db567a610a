// Follows the store's change stream: what changed reaches this process at once where the store announces it, else within one poll,
// and whether the store can be read is known here.

import type { KeyStore, KeyStoreChange } from './store/store.ts';

const PAGE = 1000;

export interface ChangeFollowerOptions {
  readonly audit: Pick<KeyStore['audit'], 'since' | 'subscribe'>;
  readonly pollMs: number;
  now(): number;
  onChange(change: KeyStoreChange): void;
  /** The stream begins, or begins anew: anything may have changed. */
  onReset(isFirst: boolean): void;
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
  /** The change at this position, as text. */
  let last: string | undefined;
  let generation = 0;

  /** The first time, and when the store was wiped, restored or has lost changes in a failover under a running gateway. */
  async function beginAnew(latest: number): Promise<void> {
    generation += 1;
    onReset(position === undefined);
    position = latest;
    last = undefined;
    if (latest === 0) return;
    const { changes } = await audit.since(latest - 1, 1);
    if (changes[0]?.sequence === latest) last = JSON.stringify(changes[0]);
  }

  async function readToEnd(): Promise<void> {
    // The first read goes beyond every sequence number: the past is of no interest, only where the stream ends.
    if (position === undefined) return beginAnew((await audit.since(Number.MAX_SAFE_INTEGER, 1)).latest);
    for (;;) {
      // With the change that was read last: if it is another one by now, the numbers went back and were given out again.
      const { latest, changes } = await audit.since(last === undefined ? position : position - 1, PAGE);
      const [first] = changes;
      if (latest < position || (last !== undefined && JSON.stringify(first) !== last)) return beginAnew(latest);
      for (const change of last === undefined ? changes : changes.slice(1)) {
        generation += 1;
        onChange(change);
        position = change.sequence;
        last = JSON.stringify(change);
      }
      if (changes.length < PAGE) return;
    }
  }

  return { readToEnd, position: () => position, generation: () => generation };
}
