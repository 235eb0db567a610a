// Counts requests in memory until they are written. The counts of a caller's last operation are cached with the caller, so that another
// request for the same operation needs no look-up. The memory is bounded. Beyond a number of pairs of caller and operation, requests are
// folded, which means that they are counted only by organization and status class. Beyond a number of folded organizations, requests are
// counted as lost.

import type { Caller } from '../exchange/caller.ts';
import { CallerNote } from '../exchange/caller-memory.ts';
import type { Operation } from '../exchange/operation.ts';
import type { Trail } from '../exchange/trail.ts';
import { periodEnd, periodStart } from './periods.ts';
import { FOLDED, type StatusClass } from './store.ts';

/** Maximum number of pairs of caller and operation, in all hours together. A pair takes some 500 bytes. */
const PAIRS_MAX = 10_000;
/** Maximum number of organizations with folded requests, in all hours together. */
const FOLDED_MAX = 10_000;

const CLASSES = [1, 2, 3, 4, 5] as const satisfies readonly StatusClass[];

/** Numbers of requests by status class. */
type ByClass = [number, number, number, number, number];

interface Hour {
  readonly byCaller: Map<Caller, Map<Operation | undefined, ByClass>>;
  /** The folded requests, by id of the organization. */
  readonly folded: Map<string, ByClass>;
}

/** The counts of a caller's last request. */
interface LastCounts {
  /** The epoch of these counts. If it is not the current epoch, the counts are no longer in the tally. */
  readonly epoch: number;
  readonly operation: Operation | undefined;
  readonly byClass: ByClass;
}

const lastCounts = new CallerNote<LastCounts>();
/** The number of epochs of all tallies. A new epoch begins with each hour, and after each `take`. */
let epochCount = 0;

export interface TalliedCount {
  readonly organization: string;
  readonly hourMs: number;
  readonly operation: string;
  readonly key: string;
  readonly statusClass: StatusClass;
  readonly requests: number;
}

export interface TallyOptions {
  now(): number;
  /** Called for the first request of a caller to an operation since the last `take`. */
  onPair(): void;
  /** Called when there is no room for another pair. The callback may call `take`. */
  onFull(): void;
  readonly pairsMax?: number | undefined;
  readonly foldedMax?: number | undefined;
}

export interface UsageTally {
  /** Counts an exchange that has ended, unless its caller is unknown. */
  count(ended: Pick<Trail, 'caller' | 'operation' | 'status'>): void;
  /** Begins a new count. Returns an iterator over the counts since the last call. */
  take(): IteratorObject<TalliedCount>;
  /** Returns the number of pairs and folded organizations. */
  size(): number;
  /** Returns how many requests were folded, and how many were not counted, since the start. */
  losses(): { readonly folded: number; readonly lost: number };
}

export function createTally({ now, onPair, onFull, pairsMax = PAIRS_MAX, foldedMax }: TallyOptions): UsageTally {
  const hours = new Hours();
  const folded = new FoldedRequests(foldedMax);
  let pairs = 0;

  /** Returns the counts of a caller and an operation; undefined if there is no room. */
  function countsOf(caller: Caller, operation: Operation | undefined, nowMs: number): ByClass | undefined {
    const byClass = hours.current.byCaller.get(caller)?.get(operation) ?? addPair(caller, operation, nowMs);
    if (byClass !== undefined) lastCounts.set(caller, { epoch: hours.epoch, operation, byClass });
    return byClass;
  }

  /** Adds a pair; returns undefined if there is no room. */
  function addPair(caller: Caller, operation: Operation | undefined, nowMs: number): ByClass | undefined {
    if (pairs >= pairsMax) {
      onFull();
      if (pairs >= pairsMax) return undefined;
    }
    hours.turnTo(nowMs);
    const { byCaller } = hours.current;
    let ofCaller = byCaller.get(caller);
    if (ofCaller === undefined) {
      ofCaller = new Map();
      byCaller.set(caller, ofCaller);
    }
    const byClass = noRequests();
    ofCaller.set(operation, byClass);
    pairs += 1;
    onPair();
    return byClass;
  }

  return {
    count({ caller, operation, status }) {
      if (caller?.organization === undefined) return;
      const nowMs = now();
      hours.turnTo(nowMs);
      const noted = lastCounts.get(caller);
      const byClass =
        noted?.epoch === hours.epoch && noted.operation === operation
          ? noted.byClass
          : countsOf(caller, operation, nowMs);
      const index = indexOf(status);
      if (byClass === undefined) folded.count(hours.current, caller.organization.id, index);
      else byClass[index] = (byClass[index] as number) + 1;
    },
    take() {
      pairs = 0;
      folded.noteTaken();
      return talliesOf(hours.take());
    },
    size: () => pairs + folded.size,
    losses: () => ({ folded: folded.requests, lost: folded.lost }),
  };
}

/** The hours with counts that were not taken. */
class Hours {
  current: Hour = newHour();
  /** Changes with each hour, and after each `take`. */
  epoch = 0;
  #byStart = new Map<number, Hour>();
  #startsAtMs = Number.POSITIVE_INFINITY;
  #endsAtMs = Number.NEGATIVE_INFINITY;

  /** Changes to the hour of this time. The hour may have counts already, if the clock was set back. */
  turnTo(nowMs: number): void {
    if (nowMs >= this.#startsAtMs && nowMs < this.#endsAtMs) return;
    this.#startsAtMs = periodStart('hour', nowMs);
    this.#endsAtMs = periodEnd('hour', nowMs);
    this.epoch = ++epochCount;
    this.current = this.#byStart.get(this.#startsAtMs) ?? newHour();
    this.#byStart.set(this.#startsAtMs, this.current);
  }

  take(): ReadonlyMap<number, Hour> {
    const taken = this.#byStart;
    this.#byStart = new Map();
    this.#startsAtMs = Number.POSITIVE_INFINITY;
    this.#endsAtMs = Number.NEGATIVE_INFINITY;
    return taken;
  }
}

/** Counts the requests for which there was no pair. */
class FoldedRequests {
  /** Number of organizations with folded requests that were not taken. */
  size = 0;
  /** Number of folded requests since the start. */
  requests = 0;
  /** Number of requests since the start that were not counted. */
  lost = 0;
  readonly #sizeMax: number;

  constructor(sizeMax = FOLDED_MAX) {
    this.#sizeMax = sizeMax;
  }

  count({ folded }: Hour, organization: string, index: number): void {
    const byClass = folded.get(organization) ?? this.#add(folded, organization);
    if (byClass === undefined) {
      this.lost += 1;
      return;
    }
    this.requests += 1;
    byClass[index] = (byClass[index] as number) + 1;
  }

  noteTaken(): void {
    this.size = 0;
  }

  /** Returns undefined if there is no room. */
  #add(folded: Hour['folded'], organization: string): ByClass | undefined {
    if (this.size >= this.#sizeMax) return undefined;
    this.size += 1;
    const byClass = noRequests();
    folded.set(organization, byClass);
    return byClass;
  }
}

function newHour(): Hour {
  return { byCaller: new Map(), folded: new Map() };
}

function noRequests(): ByClass {
  return [0, 0, 0, 0, 0];
}

function indexOf(status: number): number {
  const index = Math.trunc(status / 100) - 1;
  // An upstream may answer with any number of three digits, such as 999.
  return index >= 0 && index <= 4 ? index : 4;
}

function* talliesOf(hours: ReadonlyMap<number, Hour>): Generator<TalliedCount> {
  for (const [hourMs, { byCaller, folded }] of hours) {
    for (const [caller, ofCaller] of byCaller) {
      const organization = caller.organization?.id ?? '';
      const key = keyOf(caller);
      for (const [operation, byClass] of ofCaller)
        yield* ofClasses({ hourMs, organization, operation: operation?.id ?? '', key }, byClass);
    }
    for (const [organization, byClass] of folded) yield* ofClasses({ hourMs, organization, ...FOLDED }, byClass);
  }
}

function* ofClasses(rest: Omit<TalliedCount, 'statusClass' | 'requests'>, byClass: ByClass): Generator<TalliedCount> {
  for (const statusClass of CLASSES) {
    const requests = byClass[statusClass - 1] as number;
    if (requests > 0) yield { ...rest, statusClass, requests };
  }
}

function keyOf({ issuer, subject }: Caller): string {
  return issuer === undefined ? subject : `${issuer}:${subject}`;
}
