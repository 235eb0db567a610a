// Writes the counts to the usage store every few seconds, in numbered batches. If the confirmation of a batch is lost, the batch is sent
// again under its number, and the store adds it once. While the store cannot be reached, batches wait, and new counts stay in the tally.

import type { Awaitable } from '../shared/awaitable.ts';
import { type Machine, REAL_MACHINE, type Timer } from '../shared/machine.ts';
import { RESTS_MAX_MS, Rounds } from './rounds.ts';
import type { UsageStore } from './store.ts';
import { createTally, type TallyOptions, type UsageTally } from './tally.ts';
import { createWaitingBatches, type WaitingBatches } from './waiting-batches.ts';

/** The interval is random, so that instances that were started together do not write at the same time. */
const FLUSH_MS = { least: 4000, most: 6000 } as const;
/** The longest time from a request until its count is written, while the store can be reached. */
export const BEHIND_MS = FLUSH_MS.most + RESTS_MAX_MS;
/** Number of waiting entries beyond which new counts stay in the tally. */
const WAITING_MAX = 20_000;
/** How long a process that ends waits for a store that cannot be reached. */
const LAST_FLUSH_MS = 2000;

export interface WriterStatus {
  /** `unused`: nothing has been written yet. */
  readonly state: 'unused' | 'up' | 'away';
  /** Why the store accepts no writes; absent while it does. */
  readonly reason?: string;
  /** When the store stopped accepting writes: epoch milliseconds. */
  readonly since?: number;
  /** Number of counts that are not written yet. */
  readonly waiting: number;
  /** Number of requests that were counted without operation and key, because there were too many pairs. */
  readonly folded: number;
  /** Number of requests that were not counted. */
  readonly lost: number;
  /** All counts from before this time are written; undefined if nothing has been written yet. */
  readonly completeUntilAtMs: number | undefined;
}

/** The organizations with counts that a flush could not write. */
interface Unwritten {
  has(organization: string): boolean;
}

export interface WriterOptions extends Pick<TallyOptions, 'pairsMax' | 'foldedMax'> {
  /** Opens the store. Called for the first flush, and again after a failure. */
  open(): Awaitable<UsageStore>;
  now(): number;
  readonly machine?: Machine | undefined;
  /** Called when the store stops accepting writes, and when it accepts them again. */
  onChange(status: WriterStatus): void;
}

export class UsageWriter {
  readonly count: UsageTally['count'];
  readonly #options: WriterOptions;
  readonly #machine: Machine;
  /** The name under which the store knows this process. */
  readonly #name: string;
  readonly #tally: UsageTally;
  readonly #batches: WaitingBatches;
  readonly #rounds: Rounds;
  #opening: Promise<UsageStore> | undefined;
  #state: WriterStatus['state'] = 'unused';
  #away: Pick<WriterStatus, 'reason' | 'since'> = {};
  #completeUntilAtMs: number | undefined;
  #takenAtMs = 0;
  /** Whether the last flush took no counts from the tally, because too many batches wait. */
  #isHeldBack = false;
  #timer: Timer | undefined;
  #running: Promise<Unwritten> | undefined;
  #next: Promise<Unwritten> | undefined;
  #isClosed = false;

  constructor(options: WriterOptions) {
    const { now, pairsMax, foldedMax, machine = REAL_MACHINE } = options;
    this.#options = options;
    this.#machine = machine;
    this.#name = machine.randomBytes(9).toString('base64url');
    this.#batches = createWaitingBatches(machine);
    this.#rounds = new Rounds(this.#name, this.#batches, machine);
    this.#tally = createTally({
      now,
      onPair: () => this.#schedule(),
      onFull: () => this.#takeFull(),
      pairsMax,
      foldedMax,
    });
    this.count = this.#tally.count;
  }

  /**
   * Writes all counts, if the store accepts them. Never rejects. Calls during a flush share the next flush, which writes the counts since
   * its beginning.
   */
  flush(): Promise<Unwritten> {
    if (this.#running === undefined) return this.#begin();
    this.#next ??= this.#running.then(() => this.#begin());
    return this.#next;
  }

  /** Call it at the end of a flush, because the next flush puts other counts into the queues. */
  #unwritten(): Unwritten {
    const organizations = new Set(this.#batches.organizations());
    const isHeldBack = this.#isHeldBack;
    return { has: (organization) => isHeldBack || organizations.has(organization) };
  }

  /** Returns the store. The first call opens it. */
  async store(): Promise<UsageStore> {
    this.#opening ??= Promise.resolve(this.#options.open());
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  status(): WriterStatus {
    return {
      state: this.#state,
      ...this.#away,
      waiting: this.#batches.size() + this.#tally.size(),
      ...this.#tally.losses(),
      completeUntilAtMs: this.#completeUntilAtMs,
    };
  }

  /** Writes the rest and ends. */
  async close(): Promise<void> {
    this.#rounds.hurry();
    await Promise.race([this.flush(), this.#machine.sleep(LAST_FLUSH_MS, { ref: false })]);
    this.#isClosed = true;
    this.#machine.clearTimeout(this.#timer);
    const opened = await this.#opening?.catch(() => undefined);
    if (opened === undefined) return;
    if (this.#batches.size() === 0) await Promise.resolve(opened.end(this.#name)).catch(() => undefined);
    await opened.close();
  }

  #become(state: 'up' | 'away', cause?: unknown): void {
    const isNews = this.#state !== state && (this.#state !== 'unused' || state === 'away');
    if (state === 'up') this.#away = {};
    else if (this.#state !== state)
      this.#away = { ...(cause instanceof Error && { reason: cause.message }), since: this.#options.now() };
    this.#state = state;
    if (isNews) this.#options.onChange(this.status());
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const { least, most } = FLUSH_MS;
    this.#timer ??= this.#machine
      .setTimeout(() => void this.flush(), least + this.#machine.random() * (most - least))
      .unref();
  }

  /** Whether new counts may go into batches. While the store cannot be reached they stay in the tally, which adds up equal counts. */
  #hasRoom(): boolean {
    const waiting = this.#batches.size();
    return waiting === 0 || (this.#rounds.isAdvancing && waiting + this.#tally.size() <= WAITING_MAX);
  }

  /** Called when the tally is full. */
  #takeFull(): void {
    if (this.#isClosed || !this.#hasRoom()) return;
    this.#take();
    this.#machine.setImmediate(() => void this.flush());
  }

  #take(): void {
    this.#takenAtMs = this.#options.now();
    this.#batches.take(this.#tally);
  }

  async #begin(): Promise<Unwritten> {
    this.#next = undefined;
    this.#machine.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running = this.#write().then(() => this.#unwritten());
    const unwritten = await this.#running;
    this.#running = undefined;
    // Each flush renews the mark, which shows readers that this instance has no older counts.
    if (this.#opening !== undefined || this.#batches.size() > 0) this.#schedule();
    return unwritten;
  }

  async #write(): Promise<void> {
    this.#isHeldBack = !this.#hasRoom();
    if (!this.#isHeldBack) this.#take();
    if (this.#batches.size() === 0 && this.#opening === undefined) return;
    let upToMs = this.#takenAtMs;
    await this.#batches.cut();
    try {
      const to = await this.store();
      let isWritten = await this.#rounds.send(to);
      // During an outage, counts stayed in the tally. They are written after the waiting batches.
      if (this.#isHeldBack && this.#hasRoom()) {
        this.#isHeldBack = false;
        this.#take();
        upToMs = this.#takenAtMs;
        await this.#batches.cut();
        isWritten = await this.#rounds.send(to);
      }
      if (!isWritten) return this.#become('away', this.#rounds.failure);
      await to.mark(this.#name, upToMs);
      this.#completeUntilAtMs = upToMs;
      this.#become('up');
      await Promise.resolve(to.purge()).catch(() => undefined);
    } catch (cause) {
      this.#rounds.stall();
      this.#become('away', cause);
    }
  }
}
