// Writes what was counted to the store every few seconds, in parcels that the store adds exactly once: one whose confirmation was lost is
// sent again under its number. While the store is away, parcels wait, and what is counted meanwhile stays in the tally.

import type { Awaitable } from '../shared/awaitable.ts';
import { type Machine, realMachine, type Timer } from '../shared/machine.ts';
import { periodStart } from './periods.ts';
import type { Entry, Parcel, UsageStore } from './store.ts';
import { createTally, type Tallied, type TallyOptions, type UsageTally } from './tally.ts';

/** Instances that were started together write at different times. */
const FLUSH_MS = { least: 4000, most: 6000 } as const;
/** How far the writing of one instance is behind, at most, while its store is up. */
export const BEHIND_MS = FLUSH_MS.most;
/** Of a call, and so of a parcel: one or two milliseconds of the embedded store, less than one of Redis. */
const PARCEL_ENTRIES = 100;
/** Entries that wait in parcels; beyond, the tally keeps what it has. */
const WAITING_MAX = 20_000;
/** Parcels of different organizations that are in progress at once, if a call takes one only. */
const LANES = 16;
/** After so many failures in a row the store counts as away, and the other parcels wait, too. */
const FAILURES_MAX = 3;
/** A process that ends waits so long for a store that is away. */
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
  /** Everything before is written; undefined: nothing has been written yet. */
  readonly completeUntilAtMs: number | undefined;
}

export interface WriterOptions extends Pick<TallyOptions, 'pairsMax' | 'foldedMax'> {
  /** Called for the first flush, and again after a failure. */
  open(): Awaitable<UsageStore>;
  now(): number;
  readonly machine?: Machine | undefined;
  /** Called when the store stops accepting writes, and when it accepts them again. */
  onChange(status: WriterStatus): void;
}

export interface UsageWriter extends Pick<UsageTally, 'count'> {
  /** Writes everything counted so far, if the store accepts it. Never rejects. */
  flush(): Promise<void>;
  /** Whether the last flush has left counts of an organization unwritten. */
  waits(organization: string): boolean;
  /** The store, opened on first use. */
  store(): Promise<UsageStore>;
  status(): WriterStatus;
  /** Writes the rest and ends. */
  close(): Promise<void>;
}

export function createUsageWriter(options: WriterOptions): UsageWriter {
  const { open, now, onChange, machine = realMachine, ...bounds } = options;
  const { setTimeout, clearTimeout, setImmediate, random } = machine;
  const writer = machine.randomBytes(9).toString('base64url');
  const tally = createTally({ now, onPair: schedule, onFull, ...bounds });
  /** By organization, in the order of their numbers. */
  const queues = new Map<string, Parcel[]>();
  let opening: Promise<UsageStore> | undefined;
  let state: WriterStatus['state'] = 'unused';
  let completeUntilAtMs: number | undefined;
  let cutAtMs = 0;
  let waiting = 0;
  let parcels = 0;
  /** Whether the last round wrote anything, or had nothing to write. */
  let isAdvancing = true;
  /** Whether the last round left in the tally what was there. */
  let isHeldBack = false;
  let timer: Timer | undefined;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let isClosed = false;

  const status = (): WriterStatus => ({
    state,
    waiting: waiting + tally.size(),
    ...tally.losses(),
    completeUntilAtMs,
  });

  function become(next: 'up' | 'away'): void {
    const isNews = state !== next && (state !== 'unused' || next === 'away');
    state = next;
    if (isNews) onChange(status());
  }

  async function store(): Promise<UsageStore> {
    opening ??= Promise.resolve(open());
    try {
      return await opening;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  }

  function schedule(): void {
    if (isClosed) return;
    const { least, most } = FLUSH_MS;
    timer ??= setTimeout(flushLater, least + random() * (most - least)).unref();
  }

  function flushLater(): void {
    void flush();
  }

  /** A store that is away gets no further parcels: the tally adds up what is alike, parcels do not. */
  function hasRoom(): boolean {
    return waiting === 0 || (isAdvancing && waiting + tally.size() <= WAITING_MAX);
  }

  function onFull(): void {
    if (isClosed || !hasRoom()) return;
    cut();
    setImmediate(flushLater);
  }

  /** Turns what was counted into parcels. */
  function cut(): void {
    cutAtMs = now();
    for (const [organization, counted] of Map.groupBy(tally.take(), (one) => one.organization)) {
      const queue = queues.get(organization) ?? [];
      queues.set(organization, queue);
      for (const [dayMs, ofDay] of Map.groupBy(counted, ({ hourMs }) => periodStart('day', hourMs))) {
        for (let from = 0; from < ofDay.length; from += PARCEL_ENTRIES) {
          parcels += 1;
          const entries = ofDay.slice(from, from + PARCEL_ENTRIES).map(toEntry);
          queue.push({ number: parcels, organization, dayMs, entries });
        }
      }
      waiting += counted.length;
    }
  }

  /** Sends what waits of all organizations. Returns whether all of it was confirmed. */
  async function send(to: UsageStore): Promise<boolean> {
    const due = [...queues.keys()];
    /** Organizations whose parcel failed together with others: the damaged record of one must not hold the others up. */
    const alone: string[] = [];
    let failuresInARow = 0;
    let hasFailed = false;
    isAdvancing = due.length === 0;

    /** Organizations whose next parcels are sent at once. */
    function take(): string[] {
      const single = alone.pop();
      if (single !== undefined) return [single];
      const taken: string[] = [];
      let entries = 0;
      while (taken.length < to.parcelsMax) {
        const name = due.at(-1);
        if (name === undefined) break;
        entries += queues.get(name)?.[0]?.entries.length ?? 0;
        if (entries > PARCEL_ENTRIES && taken.length > 0) break;
        taken.push(name);
        due.pop();
      }
      return taken;
    }

    async function sendInTurn(): Promise<void> {
      for (let names = take(); names.length > 0 && failuresInARow < FAILURES_MAX; names = take()) {
        try {
          due.push(...(await sendNext(to, names)));
          failuresInARow = 0;
          isAdvancing = true;
        } catch {
          failuresInARow += 1;
          if (names.length === 1 || failuresInARow === FAILURES_MAX) hasFailed = true;
          else alone.push(...names);
        }
        // The embedded store answers at once: requests go first.
        await new Promise<void>((resolve) => void setImmediate(resolve));
      }
    }

    await Promise.all(Array.from({ length: Math.ceil(LANES / to.parcelsMax) }, sendInTurn));
    return !hasFailed;
  }

  /** Sends the next parcel of each of these organizations. Returns those that have further ones. */
  async function sendNext(to: UsageStore, organizations: readonly string[]): Promise<string[]> {
    const sent = organizations.map((name) => [name, queues.get(name) ?? []] as const);
    await to.add(
      writer,
      sent.flatMap(([, [parcel]]) => parcel ?? []),
    );
    const further: string[] = [];
    for (const [name, queue] of sent) {
      waiting -= queue.shift()?.entries.length ?? 0;
      if (queue.length > 0) further.push(name);
      else queues.delete(name);
    }
    return further;
  }

  async function write(): Promise<void> {
    isHeldBack = !hasRoom();
    if (!isHeldBack) cut();
    if (waiting === 0 && opening === undefined) return;
    let upToMs = cutAtMs;
    try {
      const to = await store();
      let isWritten = await send(to);
      // What was counted during an outage follows what waited.
      if (isHeldBack && hasRoom()) {
        isHeldBack = false;
        cut();
        upToMs = cutAtMs;
        isWritten = await send(to);
      }
      if (!isWritten) return become('away');
      await to.mark(writer, upToMs);
      completeUntilAtMs = upToMs;
      become('up');
      await Promise.resolve(to.purge()).catch(() => undefined);
    } catch {
      isAdvancing = false;
      become('away');
    }
  }

  async function begin(): Promise<void> {
    next = undefined;
    clearTimeout(timer);
    timer = undefined;
    running = write();
    await running;
    running = undefined;
    // Each flush renews the mark, so that readers know that this instance has nothing older.
    if (opening !== undefined || waiting > 0) schedule();
  }

  /** What was counted during a flush needs one more, which all who ask meanwhile share. */
  function flush(): Promise<void> {
    if (running === undefined) return begin();
    next ??= running.then(begin);
    return next;
  }

  return {
    count: tally.count,
    flush,
    waits: (organization) => isHeldBack || queues.has(organization),
    store,
    status,
    async close() {
      await Promise.race([flush(), machine.sleep(LAST_FLUSH_MS, { ref: false })]);
      isClosed = true;
      clearTimeout(timer);
      const opened = await opening?.catch(() => undefined);
      if (opened === undefined) return;
      if (waiting === 0) await Promise.resolve(opened.end(writer)).catch(() => undefined);
      await opened.close();
    },
  };
}

function toEntry({ hourMs, operation, key, statusClass, requests }: Tallied): Entry {
  return { hourMs, operation, key, statusClass, requests };
}
