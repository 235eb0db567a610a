// The requests of the last quarter of an hour: in all, for the operations with the most requests, and per error code. Its memory is fixed,
// however many operations exist.

import { type Figures, figuresOf } from './figures.ts';
import { createRing, type Ring, SLOT_MS, SLOTS } from './ring.ts';
import type { Increase, Increases } from './sample.ts';

/** Operations with a history of their own; the others are computed as the difference from the total. */
const TRACKED_MAX = 40;
/** The codes of the catalogue are few, and each belongs to a few stages: this number is never reached. */
const CODES_MAX = 200;
const REPORTED_OPERATIONS_MAX = 12;
const REPORTED_CODES_MAX = 20;
const MINUTE_SLOTS = 60_000 / SLOT_MS;
/** The current slot is reported from this age on: a younger one says nothing. */
const REPORTED_AFTER_SECONDS = 3;
/** Applied once per slot: a request from a minute ago weighs a third as much as a current one. */
const WEIGHT_KEPT = 0.75;
/** An operation replaces another only with this many times its weight; otherwise two of equal weight would alternate. */
const WEIGHT_TO_REPLACE = 1.5;

export interface HistorySeries extends Readonly<Record<keyof Figures, readonly (number | null)[]>> {}

export interface OperationHistory {
  readonly name: string;
  readonly minute: Figures;
  readonly total: Figures;
  /** One value per slot, oldest first; the last one may still increase. */
  readonly series: HistorySeries;
}

export interface CodeHistory {
  readonly stage: string;
  readonly code: string;
  readonly minute: number;
  readonly total: number;
  readonly series: readonly number[];
}

export interface HistoryReport {
  readonly slot_seconds: number;
  /** Elapsed seconds of the last slot of every series. */
  readonly last_slot_seconds: number;
  /** Start of the first slot of every series, epoch milliseconds. */
  readonly from_ms: number;
  /** Length of the `minute` and `total` periods; shorter soon after a start. */
  readonly minute_seconds: number;
  readonly total_seconds: number;
  readonly all: OperationHistory;
  /** The operations with the most requests first. */
  readonly operations: readonly OperationHistory[];
  /** All other operations together; null: none. */
  readonly others: OperationHistory | null;
  readonly codes: readonly CodeHistory[];
}

export interface History {
  /** The current slot. */
  slot(): number;
  /** Adds the increases within a slot. */
  add(slot: number, increases: Increases): void;
  report(): HistoryReport;
}

/**
 * @param bounds upper bounds of the duration buckets, in seconds
 * @param now epoch milliseconds that never decrease
 */
export function createHistory(bounds: readonly number[], now: () => number): History {
  const width = bounds.length + 3;
  const startedAtMs = now();
  const firstSlot = Math.floor(startedAtMs / SLOT_MS);
  const all = createRing(width);
  const tracked = new Map<string, Ring>();
  const codes = new Map<string, Ring>();
  const weights = new Map<string, number>();
  let newest = firstSlot;

  const rings = () => [all, ...tracked.values(), ...codes.values()];
  const oldest = () => Math.max(firstSlot, newest - SLOTS + 1);

  function slot(): number {
    const present = Math.floor(now() / SLOT_MS);
    const from = Math.max(newest + 1, present - SLOTS + 1);
    for (let next = from; next <= present; next += 1) for (const ring of rings()) ring.clear(next);
    if (present > newest) {
      newest = present;
      reweigh();
    }
    return newest;
  }

  /** Lets an untracked operation with more requests replace the tracked one with the fewest. */
  function reweigh(): void {
    for (const [name, weight] of weights) weights.set(name, weight * WEIGHT_KEPT);
    if (tracked.size < TRACKED_MAX) return;
    const byWeight = [...weights].sort(([, one], [, other]) => other - one);
    const heaviest = byWeight.find(([name]) => !tracked.has(name));
    const lightest = byWeight.findLast(([name]) => tracked.has(name));
    if (!heaviest || !lightest || heaviest[1] <= lightest[1] * WEIGHT_TO_REPLACE) return;
    tracked.delete(lightest[0]);
    tracked.set(heaviest[0], createRing(width));
  }

  function ringOf(known: Map<string, Ring>, name: string, most: number, size: number): Ring | undefined {
    if (!known.has(name) && known.size < most) known.set(name, createRing(size));
    return known.get(name);
  }

  function addOperation(at: number, { name, values }: Increase): void {
    all.add(at, values);
    ringOf(tracked, name, TRACKED_MAX, width)?.add(at, values);
    const requests = values.slice(0, bounds.length + 1).reduce((sum, value) => sum + value, 0);
    weights.set(name, (weights.get(name) ?? 0) + requests);
  }

  function historyOf(name: string, ring: Pick<Ring, 'at' | 'sum'>): OperationHistory {
    const figures = reportedSlots().map((one) => figuresOf(bounds, ring.at(one)));
    return {
      name,
      minute: figuresOf(bounds, ring.sum(Math.max(oldest(), newest - MINUTE_SLOTS + 1), newest)),
      total: figuresOf(bounds, ring.sum(oldest(), newest)),
      series: {
        requests: figures.map(({ requests }) => requests),
        client_errors: figures.map(({ client_errors }) => client_errors),
        server_errors: figures.map(({ server_errors }) => server_errors),
        p50_ms: figures.map(({ p50_ms }) => p50_ms),
        p99_ms: figures.map(({ p99_ms }) => p99_ms),
      },
    };
  }

  function reportedSlots(): number[] {
    const isReported = secondsSince(newest) >= REPORTED_AFTER_SECONDS;
    return Array.from({ length: newest - oldest() + Number(isReported) }, (_, index) => oldest() + index);
  }

  function codeHistoryOf(key: string, ring: Ring): CodeHistory {
    const [stage = '', code = ''] = key.split(' ');
    const count = (from: number) => ring.sum(from, newest)[0] as number;
    return {
      stage,
      code,
      minute: count(Math.max(oldest(), newest - MINUTE_SLOTS + 1)),
      total: count(oldest()),
      series: reportedSlots().map((one) => ring.at(one)[0] as number),
    };
  }

  function secondsSince(first: number): number {
    return Math.max(1, (now() - Math.max(startedAtMs, first * SLOT_MS)) / 1000);
  }

  return {
    slot,
    add(at, { operations, refusals }) {
      const within = Math.min(Math.max(at, oldest()), newest);
      for (const increase of operations) addOperation(within, increase);
      for (const { name, values } of refusals) ringOf(codes, name, CODES_MAX, 1)?.add(within, values);
    },
    report() {
      slot();
      const asked = [...tracked]
        .map(([name, ring]) => ({ name, ring, requests: requestsIn(ring.sum(oldest(), newest), bounds) }))
        .filter(({ requests }) => requests > 0)
        .sort((one, other) => other.requests - one.requests || one.name.localeCompare(other.name))
        .slice(0, REPORTED_OPERATIONS_MAX);
      const others = historyOf(
        'other operations',
        without(
          all,
          asked.map(({ ring }) => ring),
          width,
        ),
      );
      return {
        slot_seconds: SLOT_MS / 1000,
        last_slot_seconds: secondsSince(newest) >= REPORTED_AFTER_SECONDS ? secondsSince(newest) : SLOT_MS / 1000,
        from_ms: oldest() * SLOT_MS,
        minute_seconds: secondsSince(newest - MINUTE_SLOTS + 1),
        total_seconds: secondsSince(oldest()),
        all: historyOf('all operations', all),
        operations: asked.map(({ name, ring }) => historyOf(name, ring)),
        others: others.total.requests > 0 ? others : null,
        codes: [...codes]
          .map(([key, ring]) => codeHistoryOf(key, ring))
          .filter(({ total }) => total > 0)
          .sort((one, other) => other.total - one.total || one.code.localeCompare(other.code))
          .slice(0, REPORTED_CODES_MAX),
      };
    },
  };
}

function requestsIn(counts: Float64Array, bounds: readonly number[]): number {
  return figuresOf(bounds, counts).requests;
}

/** Subtracts rings from a ring that includes them. */
function without(all: Ring, parts: readonly Ring[], width: number): Pick<Ring, 'at' | 'sum'> {
  const rest = createRing(width);
  for (let slot = 0; slot < SLOTS; slot += 1) {
    rest.add(slot, all.at(slot));
    const cells = rest.at(slot);
    for (const part of parts) {
      const values = part.at(slot);
      for (let index = 0; index < width; index += 1)
        cells[index] = Math.max(0, (cells[index] as number) - (values[index] as number));
    }
  }
  return rest;
}
