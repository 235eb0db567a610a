// Writes what was counted to the store every few seconds, in parcels that the store adds exactly once. A parcel whose confirmation was lost
// is sent again under its number. While the store is away, parcels wait, and new counts stay in the tally.

import type { Awaitable } from '../shared/awaitable.ts';
import { type Machine, realMachine, type Timer } from '../shared/machine.ts';
import { createRounds, RESTS_MAX_MS, type Rounds } from './rounds.ts';
import type { UsageStore } from './store.ts';
import { createTally, type TallyOptions, type UsageTally } from './tally.ts';
import { createWaitingParcels, type WaitingParcels } from './waiting-parcels.ts';

/** Instances that were started together write at different times. */
const FLUSH_MS = { least: 4000, most: 6000 } as const;
/** How far the writing of one instance is behind, at most, while its store is up. */
export const BEHIND_MS = FLUSH_MS.most + RESTS_MAX_MS;
/** Entries that wait in parcels; beyond, the tally keeps what it has. */
const WAITING_MAX = 20_000;
/** The longest wait of a process that ends for a store that is away. */
const LAST_FLUSH_MS = 2000;

export interface WriterStatus {
  /** `unused`: nothing has been written yet. */
  readonly state: 'unused' | 'up' | 'away';
  /** Counts that are not written yet. */
  readonly waiting: number;
  /** Requests that were counted without operation and key while there were too many of these. */
  readonly folded: number;
  /** Requests that were not counted. */
  readonly lost: number;
  /** Everything before is written; undefined if nothing has been written yet. */
  readonly completeUntilAtMs: number | undefined;
}

/** What a flush has left in the process. */
interface Unwritten {
  has(organization: string): boolean;
}

export interface WriterOptions extends Pick<TallyOptions, 'pairsMax' | 'foldedMax'> {
  /** Called for the first flush, and again after a failure. */
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
  readonly #parcels: WaitingParcels;
  readonly #rounds: Rounds;
  #opening: Promise<UsageStore> | undefined;
  #state: WriterStatus['state'] = 'unused';
  #completeUntilAtMs: number | undefined;
  #takenAtMs = 0;
  /** Whether the last flush took no counts from the tally, because too many parcels wait. */
  #isHeldBack = false;
  #timer: Timer | undefined;
  #running: Promise<Unwritten> | undefined;
  #next: Promise<Unwritten> | undefined;
  #isClosed = false;

  constructor(options: WriterOptions) {
    const { now, pairsMax, foldedMax, machine = realMachine } = options;
    this.#options = options;
    this.#machine = machine;
    this.#name = machine.randomBytes(9).toString('base64url');
    this.#parcels = createWaitingParcels(machine);
    this.#rounds = createRounds(this.#name, this.#parcels, machine);
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
   * Writes everything counted so far, if the store accepts it. Never rejects. Calls during a flush share the next flush, which has what was
   * counted meanwhile.
   */
  flush(): Promise<Unwritten> {
    if (this.#running === undefined) return this.#begin();
    this.#next ??= this.#running.then(() => this.#begin());
    return this.#next;
  }

  /** Call it at the end of a flush, because the next flush has other counts in the queues. */
  #unwritten(): Unwritten {
    const organizations = new Set(this.#parcels.organizations());
    const isHeldBack = this.#isHeldBack;
    return { has: (organization) => isHeldBack || organizations.has(organization) };
  }

  /** The store, opened on first use. */
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
      waiting: this.#parcels.size() + this.#tally.size(),
      ...this.#tally.losses(),
      completeUntilAtMs: this.#completeUntilAtMs,
    };
  }

  /** Writes the rest and ends. */
  async close(): Promise<void> {
    this.#rounds.isHurried = true;
    await Promise.race([this.flush(), this.#machine.sleep(LAST_FLUSH_MS, { ref: false })]);
    this.#isClosed = true;
    this.#machine.clearTimeout(this.#timer);
    const opened = await this.#opening?.catch(() => undefined);
    if (opened === undefined) return;
    if (this.#parcels.size() === 0) await Promise.resolve(opened.end(this.#name)).catch(() => undefined);
    await opened.close();
  }

  #become(state: 'up' | 'away'): void {
    const isNews = this.#state !== state && (this.#state !== 'unused' || state === 'away');
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

  /** A store that is away gets no more parcels: the tally adds up what is alike, parcels do not. */
  #hasRoom(): boolean {
    const waiting = this.#parcels.size();
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
    this.#parcels.take(this.#tally);
  }

  async #begin(): Promise<Unwritten> {
    this.#next = undefined;
    this.#machine.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running = this.#write().then(() => this.#unwritten());
    const unwritten = await this.#running;
    this.#running = undefined;
    // Each flush renews the mark, so that readers know that this instance has nothing older.
    if (this.#opening !== undefined || this.#parcels.size() > 0) this.#schedule();
    return unwritten;
  }

  async #write(): Promise<void> {
    this.#isHeldBack = !this.#hasRoom();
    if (!this.#isHeldBack) this.#take();
    if (this.#parcels.size() === 0 && this.#opening === undefined) return;
    let upToMs = this.#takenAtMs;
    await this.#parcels.cut();
    try {
      const to = await this.store();
      let isWritten = await this.#rounds.send(to);
      // What was counted during an outage follows what waited.
      if (this.#isHeldBack && this.#hasRoom()) {
        this.#isHeldBack = false;
        this.#take();
        upToMs = this.#takenAtMs;
        await this.#parcels.cut();
        isWritten = await this.#rounds.send(to);
      }
      if (!isWritten) return this.#become('away');
      await to.mark(this.#name, upToMs);
      this.#completeUntilAtMs = upToMs;
      this.#become('up');
      await Promise.resolve(to.purge()).catch(() => undefined);
    } catch {
      this.#rounds.isAdvancing = false;
      this.#become('away');
    }
  }
}
