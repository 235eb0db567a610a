// Reads the change stream of a store from one position to its end, and notices if the stream was replaced.

import type { Awaitable } from '../awaitable.ts';

const PAGE = 1000;

/** A row of the stream. Its sequence number increases in commit order. */
export interface SequencedRow {
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

export interface StreamReaderOptions<Change extends SequencedRow> {
  readonly stream: ChangeStream<Change>;
  onChange(change: Change): void;
  /** Called when the stream was opened or replaced, so that any record may have changed. */
  onReset(isFirst: boolean): void;
}

export class StreamReader<Change extends SequencedRow> {
  readonly #options: StreamReaderOptions<Change>;
  #position: number | undefined;
  /** The change at this position, also as JSON. */
  #last: { readonly change: Change; readonly json: string } | undefined;
  #generation = 0;
  #hasBegun = false;

  constructor(options: StreamReaderOptions<Change>) {
    this.#options = options;
  }

  /** Every change up to this sequence number has been passed to `onChange`; undefined before the first read. */
  position(): number | undefined {
    return this.#position;
  }

  /** Returns the change at the current position; undefined if the store has no change there. */
  last(): Change | undefined {
    return this.#last?.change;
  }

  /** Returns a number that increases with every change. A result that was looked up at a lower number may be out of date. */
  generation(): number {
    return this.#generation;
  }

  async readToEnd(): Promise<void> {
    const { stream, onChange } = this.#options;
    // The first read starts beyond every sequence number, because it needs only the end of the stream, not past changes.
    let position = this.#position;
    if (position === undefined) return this.#beginAnew((await stream.since(Number.MAX_SAFE_INTEGER, 1)).latest);
    for (;;) {
      // The last known change is read again, because if it differs, the store was reset and has reused the sequence numbers.
      const last = this.#last;
      const read = await stream.since(last === undefined ? position : position - 1, PAGE);
      const { latest, changes, isAnother = false } = read;
      const [first] = changes;
      if (isAnother || latest < position || (last !== undefined && JSON.stringify(first) !== last.json))
        return this.#beginAnew(latest);
      for (const change of last === undefined ? changes : changes.slice(1)) {
        this.#generation += 1;
        onChange(change);
        position = change.sequence;
        this.#position = position;
        this.#note(change);
      }
      if (changes.length < PAGE) return;
    }
  }

  /**
   * Begins at the latest change, at the first read, and after the store was wiped or restored, or has lost changes in a failover. Until
   * this has succeeded there is no position, and the next read begins again in the same way, because the store may have been replaced once
   * more.
   */
  async #beginAnew(latest: number): Promise<void> {
    const { stream, onReset } = this.#options;
    this.#generation += 1;
    this.#position = undefined;
    this.#last = undefined;
    onReset(!this.#hasBegun);
    if (latest > 0) {
      const read = await stream.since(latest - 1, 1);
      if (read.isAnother || read.latest < latest) return this.readToEnd();
      const [change] = read.changes;
      if (change?.sequence === latest) this.#note(change);
      this.#generation += 1;
    }
    this.#position = latest;
    this.#hasBegun = true;
  }

  #note(change: Change): void {
    this.#last = { change, json: JSON.stringify(change) };
  }
}
