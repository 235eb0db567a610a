// Counts requests in memory until they are written. The counts of a caller's last operation are cached with the caller: another request for
// the same operation needs no look-up. The memory is bounded. Beyond a number of pairs of caller and operation, requests are folded: counted
// by organization and status class only. Beyond a number of folded organizations, they are counted as lost.

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
  /** If this is not the current epoch, these counts are no longer in the tally. */
  readonly epoch: number;
  readonly operation: Operation | undefined;
  readonly byClass: ByClass;
}

const last = new CallerNote<LastCounts>();
/** The number of epochs of all tallies. A new epoch begins with each hour, and after each `take`. */
let epochs = 0;

export interface Tallied {
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
  take(): IteratorObject<Tallied>;
  /** Returns the number of pairs and folded organizations. */
  size(): number;
  /** Returns how many requests were folded, and how many were not counted, since the start. */
  losses(): { readonly folded: number; readonly lost: number };
}

export function createTally({ now, onPair, onFull, ...bounds }: TallyOptions): UsageTally {
  const { pairsMax = PAIRS_MAX, foldedMax = FOLDED_MAX } = bounds;
  let hours = new Map<number, Hour>();
  let hour: Hour = newHour();
  let hourStartsAtMs = Number.POSITIVE_INFINITY;
  let hourEndsAtMs = Number.NEGATIVE_INFINITY;
  let epoch = 0;
  let pairs = 0;
  let foldedNow = 0;
  let folded = 0;
  let lost = 0;

  /** Changes to another hour. It may be an hour that has counts already, if the clock was set back. */
  function turnTo(nowMs: number): void {
    hourStartsAtMs = periodStart('hour', nowMs);
    hourEndsAtMs = periodEnd('hour', nowMs);
    epoch = ++epochs;
    const known = hours.get(hourStartsAtMs);
    hour = known ?? newHour();
    hours.set(hourStartsAtMs, hour);
  }

  /** Returns the counts of a caller and an operation; undefined if there is no room. */
  function countsOf(caller: Caller, operation: Operation | undefined, nowMs: number): ByClass | undefined {
    const byClass = hour.byCaller.get(caller)?.get(operation) ?? addPair(caller, operation, nowMs);
    if (byClass !== undefined) last.set(caller, { epoch, operation, byClass });
    return byClass;
  }

  /** Adds a pair; returns undefined if there is no room. */
  function addPair(caller: Caller, operation: Operation | undefined, nowMs: number): ByClass | undefined {
    if (pairs >= pairsMax) {
      onFull();
      if (pairs >= pairsMax) return undefined;
    }
    if (nowMs < hourStartsAtMs || nowMs >= hourEndsAtMs) turnTo(nowMs);
    let ofCaller = hour.byCaller.get(caller);
    if (ofCaller === undefined) {
      ofCaller = new Map();
      hour.byCaller.set(caller, ofCaller);
    }
    const byClass = noRequests();
    ofCaller.set(operation, byClass);
    pairs += 1;
    onPair();
    return byClass;
  }

  function fold(organization: string): ByClass | undefined {
    const known = hour.folded.get(organization);
    if (known !== undefined) return known;
    if (foldedNow >= foldedMax) return undefined;
    foldedNow += 1;
    const byClass = noRequests();
    hour.folded.set(organization, byClass);
    return byClass;
  }

  function countFolded(organization: string, index: number): void {
    const byClass = fold(organization);
    if (byClass === undefined) {
      lost += 1;
      return;
    }
    folded += 1;
    byClass[index] = (byClass[index] as number) + 1;
  }

  return {
    count({ caller, operation, status }) {
      if (caller?.organization === undefined) return;
      const nowMs = now();
      if (nowMs < hourStartsAtMs || nowMs >= hourEndsAtMs) turnTo(nowMs);
      const noted = last.of(caller);
      const byClass =
        noted?.epoch === epoch && noted.operation === operation ? noted.byClass : countsOf(caller, operation, nowMs);
      const index = indexOf(status);
      if (byClass === undefined) countFolded(caller.organization.id, index);
      else byClass[index] = (byClass[index] as number) + 1;
    },
    take() {
      const taken = hours;
      hours = new Map();
      pairs = 0;
      foldedNow = 0;
      hourStartsAtMs = Number.POSITIVE_INFINITY;
      hourEndsAtMs = Number.NEGATIVE_INFINITY;
      return tallied(taken);
    },
    size: () => pairs + foldedNow,
    losses: () => ({ folded, lost }),
  };
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

function* tallied(hours: ReadonlyMap<number, Hour>): Generator<Tallied> {
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

function* ofClasses(rest: Omit<Tallied, 'statusClass' | 'requests'>, byClass: ByClass): Generator<Tallied> {
  for (const statusClass of CLASSES) {
    const requests = byClass[statusClass - 1] as number;
    if (requests > 0) yield { ...rest, statusClass, requests };
  }
}

function keyOf({ issuer, subject }: Caller): string {
  return issuer === undefined ? subject : `${issuer}:${subject}`;
}
