// Writes what was counted to the store every few seconds, in parcels that the store adds exactly once. A parcel whose confirmation was lost
// is sent again under its number. While the store is away, parcels wait, and new counts stay in the tally. A thousand busy organizations
// are a tenth of a second of work, for this process and for the store: it is done in pieces, with rests.

import type { Awaitable } from '../shared/awaitable.ts';
import { type Machine, realMachine, type Timer } from '../shared/machine.ts';
import { periodStart } from './periods.ts';
import type { Entry, Parcel, UsageStore } from './store.ts';
import { createTally, type Tallied, type TallyOptions, type UsageTally } from './tally.ts';

/** Instances that were started together write at different times. */
const FLUSH_MS = { least: 4000, most: 6000 } as const;
/** After a call, the store has this many times as long to do other work. */
const RESTS_PER_CALL = 4;
/** The longest rest. A slow answer mostly says that the store is far away, and a process that ends waits for the rest that has begun. */
const REST_MAX_MS = 100;
/** One flush rests no longer than this, in all. */
const RESTS_MAX_MS = 2000;
/** How far the writing of one instance is behind, at most, while its store is up. */
export const BEHIND_MS = FLUSH_MS.most + RESTS_MAX_MS;
/** Most entries of one parcel, which is written by one call: it takes the embedded store one or two milliseconds, and Redis less than one. */
const PARCEL_ENTRIES = 100;
/** Entries that wait in parcels; beyond, the tally keeps what it has. */
const WAITING_MAX = 20_000;
/** Parcels of different organizations that are in progress at once, if a call takes one only. */
const LANES = 16;
/** After this many failures in a row the store counts as away, and the other parcels wait, too. */
const FAILURES_MAX = 3;
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
export interface Unwritten {
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
  /** Counts one request. */
  readonly count: UsageTally['count'];
  readonly #options: WriterOptions;
  readonly #machine: Machine;
  /** The name under which the store knows this process. */
  readonly #name: string;
  readonly #tally: UsageTally;
  /** Parcels by organization, in the order of their numbers. */
  readonly #queues = new Map<string, Parcel[]>();
  #opening: Promise<UsageStore> | undefined;
  #state: WriterStatus['state'] = 'unused';
  #completeUntilAtMs: number | undefined;
  /** What has left the tally, and is not in parcels yet. */
  readonly #taken: Taken[] = [];
  #takenAtMs = 0;
  /** Entries in parcels, and pairs of what was taken. */
  #waiting = 0;
  /** Number of the last parcel. */
  #parcels = 0;
  /** Whether the last round wrote anything, or had nothing to write. */
  #isAdvancing = true;
  /** Whether the last round left in the tally what was there. */
  #isHeldBack = false;
  #timer: Timer | undefined;
  #running: Promise<Unwritten> | undefined;
  #next: Promise<Unwritten> | undefined;
  #isClosed = false;
  /** Whether the process ends: flushes no longer rest. */
  #isHurried = false;

  constructor(options: WriterOptions) {
    const { now, pairsMax, foldedMax, machine = realMachine } = options;
    this.#options = options;
    this.#machine = machine;
    this.#name = machine.randomBytes(9).toString('base64url');
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
   * Writes everything counted so far, if the store accepts it. Never rejects. What is counted during a flush needs one more, which all
   * who ask meanwhile share.
   */
  flush(): Promise<Unwritten> {
    if (this.#running === undefined) return this.#begin();
    this.#next ??= this.#running.then(() => this.#begin());
    return this.#next;
  }

  /** Read at the end of a flush: the next one has other counts in the queues. */
  #unwritten(): Unwritten {
    const organizations = new Set(this.#queues.keys());
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
      waiting: this.#waiting + this.#tally.size(),
      ...this.#tally.losses(),
      completeUntilAtMs: this.#completeUntilAtMs,
    };
  }

  /** Writes the rest and ends. */
  async close(): Promise<void> {
    this.#isHurried = true;
    await Promise.race([this.flush(), this.#machine.sleep(LAST_FLUSH_MS, { ref: false })]);
    this.#isClosed = true;
    this.#machine.clearTimeout(this.#timer);
    const opened = await this.#opening?.catch(() => undefined);
    if (opened === undefined) return;
    if (this.#waiting === 0) await Promise.resolve(opened.end(this.#name)).catch(() => undefined);
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
    return this.#waiting === 0 || (this.#isAdvancing && this.#waiting + this.#tally.size() <= WAITING_MAX);
  }

  /** Called when the tally is full. */
  #takeFull(): void {
    if (this.#isClosed || !this.#hasRoom()) return;
    this.#take();
    this.#machine.setImmediate(() => void this.flush());
  }

  #take(): void {
    this.#takenAtMs = this.#options.now();
    const pairs = this.#tally.size();
    if (pairs === 0) return;
    this.#taken.push({ entries: this.#tally.take(), pairs });
    this.#waiting += pairs;
  }

  /** Turns what was taken into parcels. Requests are served in between. */
  async #cut(): Promise<void> {
    for (let taken = this.#taken.shift(); taken !== undefined; taken = this.#taken.shift()) {
      let pairs = taken.pairs;
      for (let piece = pieceOf(taken.entries); piece.length > 0; piece = pieceOf(taken.entries)) {
        this.#cutPiece(piece);
        // A pair has one entry or more. What is in parcels must not be counted twice, or the tally would lack room.
        const cut = Math.min(pairs, piece.length);
        this.#waiting -= cut;
        pairs -= cut;
        await this.#turn();
      }
    }
  }

  #cutPiece(piece: readonly Tallied[]): void {
    for (const [organization, counted] of Map.groupBy(piece, (one) => one.organization)) {
      const queue = this.#queues.get(organization) ?? [];
      this.#queues.set(organization, queue);
      for (const [dayMs, ofDay] of Map.groupBy(counted, ({ hourMs }) => periodStart('day', hourMs))) {
        this.#parcels += 1;
        queue.push({ number: this.#parcels, organization, dayMs, entries: ofDay.map(toEntry) });
      }
    }
    this.#waiting += piece.length;
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => void this.#machine.setImmediate(resolve));
  }

  async #begin(): Promise<Unwritten> {
    this.#next = undefined;
    this.#machine.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running = this.#write().then(() => this.#unwritten());
    const unwritten = await this.#running;
    this.#running = undefined;
    // Each flush renews the mark, so that readers know that this instance has nothing older.
    if (this.#opening !== undefined || this.#waiting > 0) this.#schedule();
    return unwritten;
  }

  async #write(): Promise<void> {
    this.#isHeldBack = !this.#hasRoom();
    if (!this.#isHeldBack) this.#take();
    if (this.#waiting === 0 && this.#opening === undefined) return;
    let upToMs = this.#takenAtMs;
    await this.#cut();
    try {
      const to = await this.store();
      let isWritten = await this.#send(to);
      // What was counted during an outage follows what waited.
      if (this.#isHeldBack && this.#hasRoom()) {
        this.#isHeldBack = false;
        this.#take();
        upToMs = this.#takenAtMs;
        await this.#cut();
        isWritten = await this.#send(to);
      }
      if (!isWritten) return this.#become('away');
      await to.mark(this.#name, upToMs);
      this.#completeUntilAtMs = upToMs;
      this.#become('up');
      await Promise.resolve(to.purge()).catch(() => undefined);
    } catch {
      this.#isAdvancing = false;
      this.#become('away');
    }
  }

  /** Sends what waits of all organizations. Returns whether all of it was confirmed. */
  async #send(to: UsageStore): Promise<boolean> {
    const due = [...this.#queues.keys()];
    const round: Round = { to, due, alone: [], failuresInARow: 0, hasFailed: false, restedMs: 0 };
    this.#isAdvancing = due.length === 0;
    await Promise.all(Array.from({ length: Math.ceil(LANES / to.parcelsMax) }, () => this.#sendInTurn(round)));
    return !round.hasFailed;
  }

  /** One of the lanes of a round. */
  async #sendInTurn(round: Round): Promise<void> {
    const take = () => this.#takeDue(round);
    for (let names = take(); names.length > 0 && round.failuresInARow < FAILURES_MAX; names = take()) {
      const sentAt = this.#machine.performance.now();
      try {
        round.due.push(...(await this.#sendNext(round.to, names)));
        round.failuresInARow = 0;
        this.#isAdvancing = true;
        await this.#rest(round, this.#machine.performance.now() - sentAt);
      } catch {
        round.failuresInARow += 1;
        if (names.length === 1 || round.failuresInARow === FAILURES_MAX) round.hasFailed = true;
        else round.alone.push(...names);
        await this.#turn();
      }
    }
  }

  /** Leaves the store to requests: their limits and keys wait for it, and for this process where the store is embedded. */
  async #rest(round: Round, tookMs: number): Promise<void> {
    if (this.#isHurried || round.restedMs >= RESTS_MAX_MS) return this.#turn();
    const ms = Math.min(tookMs * RESTS_PER_CALL, REST_MAX_MS, RESTS_MAX_MS - round.restedMs);
    round.restedMs += ms;
    // A process that drains must not end in a rest.
    await this.#machine.sleep(ms);
  }

  /** Takes the organizations whose next parcels are sent at once. */
  #takeDue({ to, due, alone }: Round): string[] {
    const single = alone.pop();
    if (single !== undefined) return [single];
    const taken: string[] = [];
    let entries = 0;
    while (taken.length < to.parcelsMax) {
      const name = due.at(-1);
      if (name === undefined) break;
      entries += this.#queues.get(name)?.[0]?.entries.length ?? 0;
      if (entries > PARCEL_ENTRIES && taken.length > 0) break;
      taken.push(name);
      due.pop();
    }
    return taken;
  }

  /** Sends the next parcel of each of these organizations. Returns those that have another one. */
  async #sendNext(to: UsageStore, organizations: readonly string[]): Promise<string[]> {
    const sent = organizations.map((name) => [name, this.#queues.get(name) ?? []] as const);
    await to.add(
      this.#name,
      sent.flatMap(([, [parcel]]) => parcel ?? []),
    );
    const more: string[] = [];
    for (const [name, queue] of sent) {
      this.#waiting -= queue.shift()?.entries.length ?? 0;
      if (queue.length > 0) more.push(name);
      else this.#queues.delete(name);
    }
    return more;
  }
}

/** The sending of all that waits. */
interface Round {
  readonly to: UsageStore;
  /** Organizations whose parcels are not sent yet. */
  readonly due: string[];
  /** Organizations whose parcel failed together with others: the damaged record of one must not hold the others up. */
  readonly alone: string[];
  failuresInARow: number;
  hasFailed: boolean;
  /** By all lanes together. */
  restedMs: number;
}

interface Taken {
  readonly entries: Iterator<Tallied>;
  readonly pairs: number;
}

/** The next entries, as many as a parcel may have. */
function pieceOf(entries: Iterator<Tallied>): Tallied[] {
  const piece: Tallied[] = [];
  while (piece.length < PARCEL_ENTRIES) {
    const { value, done } = entries.next();
    if (done) break;
    piece.push(value);
  }
  return piece;
}

function toEntry({ hourMs, operation, key, statusClass, requests }: Tallied): Entry {
  return { hourMs, operation, key, statusClass, requests };
}
