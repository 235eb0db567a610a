// The history of the console as bytes, so that it outlives the process: a line of JSON with names and moments, then the counts.

import type { GatewayEvent } from './events.ts';
import { RESOLUTIONS } from './ranges.ts';
import { createRing, type Ring } from './ring.ts';

/** Rings of one series, one per resolution. */
export type SeriesRings = readonly Ring[];

export interface HistoryState {
  /** Epoch milliseconds: what is older was never counted. */
  readonly startedAtMs: number;
  /** The newest slot of each resolution. */
  readonly newest: readonly number[];
  readonly all: SeriesRings;
  readonly operations: ReadonlyMap<string, SeriesRings>;
  readonly organizations: ReadonlyMap<string, SeriesRings>;
  readonly upstreams: ReadonlyMap<string, SeriesRings>;
  readonly codes: ReadonlyMap<string, SeriesRings>;
}

export interface KeptHistory extends HistoryState {
  readonly events: readonly GatewayEvent[];
}

interface Head {
  readonly form: string;
  readonly startedAtMs: number;
  readonly newest: readonly number[];
  readonly operations: readonly string[];
  readonly organizations: readonly string[];
  readonly upstreams: readonly string[];
  readonly codes: readonly string[];
  readonly events: readonly GatewayEvent[];
}

const NEWLINE = 0x0a;

/** @param width counts per slot of an operation */
const formOf = (width: number) => JSON.stringify([2, width, RESOLUTIONS]);

export function createSeries(width: number): SeriesRings {
  return RESOLUTIONS.map(({ slots }) => createRing(width, slots));
}

export function encodeHistory(state: HistoryState, events: readonly GatewayEvent[], width: number): Buffer {
  const { startedAtMs, newest, operations, organizations, upstreams, codes } = state;
  const names = {
    operations: [...operations.keys()],
    organizations: [...organizations.keys()],
    upstreams: [...upstreams.keys()],
    codes: [...codes.keys()],
  };
  const head: Head = { form: formOf(width), startedAtMs, newest, ...names, events };
  const cells = seriesIn(state).map(({ cells }) => Buffer.from(cells.buffer));
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...cells]);
}

/** Returns undefined for the bytes of another release, those that were cut off, and those of the future, as after a change of the clock. */
export function decodeHistory(bytes: Buffer, width: number, nowMs: number): KeptHistory | undefined {
  const head = headIn(bytes);
  if (head?.form !== formOf(width)) return undefined;
  if (head.newest.some((slot, resolution) => slot * (RESOLUTIONS[resolution]?.slotMs ?? 0) > nowMs)) return undefined;
  let at = bytes.indexOf(NEWLINE) + 1;
  const next = (of: number): SeriesRings => {
    const series = createSeries(of);
    for (const { cells } of series) {
      const target = Buffer.from(cells.buffer);
      at += bytes.copy(target, 0, at, at + target.length);
    }
    return series;
  };
  const all = next(width);
  const wide = (names: readonly string[]) => new Map(names.map((name) => [name, next(width)]));
  const operations = wide(head.operations);
  const organizations = wide(head.organizations);
  const upstreams = wide(head.upstreams);
  const codes = new Map(head.codes.map((name) => [name, next(1)]));
  const { startedAtMs, newest, events } = head;
  const state = { startedAtMs, newest, all, operations, organizations, upstreams, codes };
  const expected = seriesIn(state).reduce((sum, ring) => sum + ring.cells.byteLength, 0);
  const isWhole = bytes.length === bytes.indexOf(NEWLINE) + 1 + expected;
  return isWhole ? { ...state, events } : undefined;
}

/** In the order of the bytes. */
function seriesIn({ all, operations, organizations, upstreams, codes }: HistoryState): Ring[] {
  const wide = [operations, organizations, upstreams, codes].flatMap((series) => [...series.values()]);
  return [all, ...wide].flat();
}

function headIn(bytes: Buffer): Head | undefined {
  try {
    return JSON.parse(bytes.subarray(0, bytes.indexOf(NEWLINE)).toString());
  } catch {
    return undefined;
  }
}
