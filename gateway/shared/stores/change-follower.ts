// Follows the change stream of a store, and notes whether the store can be read. A change reaches this process at once if the store announces
// it, otherwise at the next poll.

import type { Awaitable } from '../awaitable.ts';
import { type Machine, REAL_MACHINE } from '../machine.ts';

const PAGE = 1000;

/** A row of the stream. Its sequence number increases in commit order. */
interface SequencedRow {
  readonly sequence: number;
}

interface ChangesRead<Change extends SequencedRow> {
  /** The highest sequence number of the stream; lower than before after a loss. */
  readonly latest: number;
  /** Oldest first. */
  readonly changes: readonly Change[];
  /**
   * Set if the stream was replaced since the last read. Its numbers do not show this, because a stream that was wiped twice has the same
   * numbers.
   */
  readonly isAnother?: boolean;
}

/** The interface of the store. */
interface ChangeStream<Change extends SequencedRow> {
  since(sequence: number, limit: number): Awaitable<ChangesRead<Change>>;
  /** Calls back soon after a change, if the store can announce it. */
  subscribe(onAnnounced: () => void): () => void;
}

interface ChangeFollowerOptions<Change extends SequencedRow> {
  readonly stream: ChangeStream<Change>;
  readonly pollMs: number;
  now(): number;
  onChange(change: Change): void;
  /** Called when the stream was opened or replaced, so that any record may have changed. */
  onReset(isFirst: boolean): void;
  /** Called after every poll, successful or not. */
  onPolled(): void;
  /** Called with the reason when the store can no longer be read, and with undefined when it can be read again. */
  onHealth?: ((reason: string | undefined) => void) | undefined;
  readonly machine?: Machine | undefined;
}

export interface ChangeFollower<Change> {
  /** Returns the error of the last read; undefined while the store can be read. */
  failure(): Error | undefined;
  /** Records that another reader of the store failed; the next successful poll ends the failure. */
  noteFailure(cause: unknown): void;
  /** Returns the time at which the last complete read of the stream began. Epoch milliseconds. */
  readAtMs(): number;
  /** Returns the same time by `performance.now()`, a clock that is never set. */
  readAt(): number;
  /** Every change up to this sequence number has been passed to `onChange`; undefined before the first read. */
  position(): number | undefined;
  /** Returns the change at the current position; undefined if the store has no change there. */
  last(): Change | undefined;
  /** Returns a number that increases with every change. A result that was looked up at a lower number may be out of date. */
  generation(): number;
  /** Reads the stream now, once more if a read is in progress. */
  readNow(): void;
  stop(): void;
}

/** Starts to follow at once; the timer does not keep the process alive. */
export function createChangeFollower<Change extends SequencedRow>({
  pollMs,
  now,
  onPolled,
  ...options
}: ChangeFollowerOptions<Change>): ChangeFollower<Change> {
  const { setInterval, clearInterval, performance } = options.machine ?? REAL_MACHINE;
  const reader = createStreamReader(options);
  let failure: Error | undefined;
  let readAtMs = now();
  let readAt = performance.now();
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
    const startedAt = performance.now();
    try {
      await reader.readToEnd();
      readAtMs = startedAtMs;
      readAt = startedAt;
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
      // A change that was announced during the read may be missing from it, so one more poll reads all of them.
    } while (announced);
    polling = false;
  }

  function readNow(): void {
    announced = true;
    void poll();
  }

  const unsubscribe = options.stream.subscribe(readNow);
  // Announcements may be lost, so the poll interval alone has to meet the promised delay.
  const timer = setInterval(poll, pollMs).unref();
  void poll();

  return {
    failure: () => failure,
    noteFailure,
    readAtMs: () => readAtMs,
    readAt: () => readAt,
    position: reader.position,
    last: reader.last,
    generation: reader.generation,
    readNow,
    stop() {
      unsubscribe();
      clearInterval(timer);
    },
  };
}

function createStreamReader<Change extends SequencedRow>({
  stream,
  onChange,
  onReset,
}: Pick<ChangeFollowerOptions<Change>, 'stream' | 'onChange' | 'onReset'>) {
  let position: number | undefined;
  /** The change at this position, also as JSON. */
  let last: { readonly change: Change; readonly json: string } | undefined;
  let generation = 0;
  let hasBegun = false;

  function note(change: Change): void {
    last = { change, json: JSON.stringify(change) };
  }

  /**
   * Begins at the latest change, at the first read, and after the store was wiped or restored, or has lost changes in a failover. Until
   * this has succeeded there is no position, and the next read begins again in the same way, because the store may have been replaced once
   * more.
   */
  async function beginAnew(latest: number): Promise<void> {
    generation += 1;
    position = undefined;
    last = undefined;
    onReset(!hasBegun);
    if (latest > 0) {
      const read = await stream.since(latest - 1, 1);
      if (read.isAnother || read.latest < latest) return readToEnd();
      const [change] = read.changes;
      if (change?.sequence === latest) note(change);
      generation += 1;
    }
    position = latest;
    hasBegun = true;
  }

  async function readToEnd(): Promise<void> {
    // The first read starts beyond every sequence number, because it needs only the end of the stream, not past changes.
    if (position === undefined) return beginAnew((await stream.since(Number.MAX_SAFE_INTEGER, 1)).latest);
    for (;;) {
      // The last known change is read again, because if it differs, the store was reset and has reused the sequence numbers.
      const read = await stream.since(last === undefined ? position : position - 1, PAGE);
      const { latest, changes, isAnother = false } = read;
      const [first] = changes;
      if (isAnother || latest < position || (last !== undefined && JSON.stringify(first) !== last.json))
        return beginAnew(latest);
      for (const change of last === undefined ? changes : changes.slice(1)) {
        generation += 1;
        onChange(change);
        position = change.sequence;
        note(change);
      }
      if (changes.length < PAGE) return;
    }
  }

  return { readToEnd, position: () => position, last: () => last?.change, generation: () => generation };
}
