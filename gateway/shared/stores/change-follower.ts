// Follows the change stream of a store, and notes whether the store can be read. A change reaches this process at once if the store
// announces it, otherwise at the next poll.

import { type Machine, REAL_MACHINE, type Timer } from '../machine.ts';
import { type SequencedRow, StreamReader, type StreamReaderOptions } from './stream-reader.ts';

interface ChangeFollowerOptions<Change extends SequencedRow> extends StreamReaderOptions<Change> {
  readonly pollMs: number;
  now(): number;
  /** Called after every poll, successful or not. */
  onPolled(): void;
  /** Called with the reason when the store can no longer be read, and with undefined when it can be read again. */
  onHealth?: ((reason: string | undefined) => void) | undefined;
  readonly machine?: Machine | undefined;
}

export class ChangeFollower<Change extends SequencedRow> {
  readonly #options: ChangeFollowerOptions<Change>;
  readonly #machine: Machine;
  readonly #reader: StreamReader<Change>;
  readonly #timer: Timer;
  readonly #unsubscribe: () => void;
  #failure: Error | undefined;
  #readAtMs: number;
  #readAt: number;
  #isPolling = false;
  /** Whether a change was announced since the last read began. */
  #isAnnounced = false;

  /** Starts to follow at once; the timer does not keep the process alive. */
  constructor(options: ChangeFollowerOptions<Change>) {
    this.#options = options;
    this.#machine = options.machine ?? REAL_MACHINE;
    this.#reader = new StreamReader(options);
    this.#readAtMs = options.now();
    this.#readAt = this.#machine.performance.now();
    this.#unsubscribe = options.stream.subscribe(() => this.readNow());
    // Announcements may be lost, so the poll interval alone has to meet the promised delay.
    this.#timer = this.#machine.setInterval(() => this.#poll(), options.pollMs).unref();
    void this.#poll();
  }

  /** Returns the error of the last read; undefined while the store can be read. */
  failure(): Error | undefined {
    return this.#failure;
  }

  /** Records that another reader of the store failed; the next successful poll ends the failure. */
  noteFailure(cause: unknown): void {
    this.#conclude(cause instanceof Error ? cause : new Error(String(cause)));
  }

  /** Returns the time at which the last complete read of the stream began. Epoch milliseconds. */
  readAtMs(): number {
    return this.#readAtMs;
  }

  /** Returns the same time by `performance.now()`, a clock that is never set. */
  readAt(): number {
    return this.#readAt;
  }

  /** See `StreamReader`. */
  position(): number | undefined {
    return this.#reader.position();
  }

  /** See `StreamReader`. */
  last(): Change | undefined {
    return this.#reader.last();
  }

  /** See `StreamReader`. */
  generation(): number {
    return this.#reader.generation();
  }

  /** Reads the stream now, once more if a read is in progress. */
  readNow(): void {
    this.#isAnnounced = true;
    void this.#poll();
  }

  stop(): void {
    this.#unsubscribe();
    this.#machine.clearInterval(this.#timer);
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    do {
      this.#isAnnounced = false;
      await this.#readOnce();
      // A change that was announced during the read may be missing from it, so one more poll reads all of them.
    } while (this.#isAnnounced);
    this.#isPolling = false;
  }

  async #readOnce(): Promise<void> {
    const { now, onPolled } = this.#options;
    const startedAtMs = now();
    const startedAt = this.#machine.performance.now();
    try {
      await this.#reader.readToEnd();
      this.#readAtMs = startedAtMs;
      this.#readAt = startedAt;
      this.#conclude(undefined);
    } catch (cause) {
      this.noteFailure(cause);
    }
    onPolled();
  }

  #conclude(result: Error | undefined): void {
    const isNews = (result === undefined) !== (this.#failure === undefined);
    this.#failure = result;
    if (isNews) this.#options.onHealth?.(result?.message);
  }
}
