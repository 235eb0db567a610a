// Encodes the history of the console as bytes, for a file that outlives the process. The bytes are a line of JSON with names and times, and
// the counts.

import type { GatewayEvent } from './gateway-event.ts';
import { COARSEST, RESOLUTIONS, YESTERDAY_SLOTS } from './ranges.ts';
import { createRing, createSeries, type Ring, type SeriesRings } from './ring.ts';
import type { OrganizationNearLimit } from './sample.ts';

export interface HistoryState {
  /** The time from which on requests were counted, in epoch milliseconds. */
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
  /** The id of the history, which it keeps after a restart; undefined if an earlier release wrote it. */
  readonly id?: string | undefined;
  readonly events: readonly GatewayEvent[];
  readonly nearLimits: readonly OrganizationNearLimit[];
  /** The time at which the history was written, epoch milliseconds; undefined if an earlier release wrote it. */
  readonly keptAtMs: number | undefined;
  /** Whether the process has ended in order after it had written the history; undefined if an earlier release wrote it. */
  readonly hasEnded: boolean | undefined;
}

interface Head {
  readonly form: string;
  readonly id?: string | undefined;
  readonly startedAtMs: number;
  readonly keptAtMs?: number;
  readonly hasEnded?: boolean | undefined;
  readonly newest: readonly number[];
  readonly operations: readonly string[];
  /** This member and the next member are absent in the former form. */
  readonly organizations?: readonly string[];
  readonly upstreams?: readonly string[];
  readonly codes: readonly string[];
  readonly events: readonly GatewayEvent[];
  readonly nearLimits?: readonly OrganizationNearLimit[];
}

const NEWLINE = 0x0a;

/** The layout of rings in the bytes. */
interface Form {
  readonly text: string;
  /** Counts per slot of an operation. */
  readonly width: number;
  /** Slots per resolution. */
  readonly slots: readonly number[];
}

function formOf(width: number): Form {
  return { text: JSON.stringify([2, width, RESOLUTIONS]), width, slots: RESOLUTIONS.map(({ slots }) => slots) };
}

/** Returns the layout of the previous release, with one day, and without counts of refusals and of broken contracts. */
function formerFormOf(width: number): Form {
  const resolutions = RESOLUTIONS.map((one, index) => (index === COARSEST ? { ...one, slots: YESTERDAY_SLOTS } : one));
  const former = width - 3;
  return {
    text: JSON.stringify([1, former, resolutions]),
    width: former,
    slots: resolutions.map(({ slots }) => slots),
  };
}

export function encodeHistory(
  state: HistoryState,
  shown: Pick<KeptHistory, 'id' | 'events' | 'nearLimits' | 'hasEnded'>,
  width: number,
  keptAtMs: number,
): Buffer {
  const { startedAtMs, newest, operations, organizations, upstreams, codes } = state;
  const names = {
    operations: [...operations.keys()],
    organizations: [...organizations.keys()],
    upstreams: [...upstreams.keys()],
    codes: [...codes.keys()],
  };
  const head: Head = { form: formOf(width).text, startedAtMs, keptAtMs, newest, ...names, ...shown };
  const cells = seriesIn(state).map(({ cells }) => Buffer.from(cells.buffer));
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...cells]);
}

/**
 * Reads a history that this release or the previous one has written. Returns undefined for bytes of other releases, for a history that was
 * cut off, and for a history with times in the future, as after a change of the clock.
 *
 * @param width counts per slot of an operation in this release
 */
export function decodeHistory(bytes: Buffer, width: number, nowMs: number): KeptHistory | undefined {
  const head = headIn(bytes);
  const form = [formOf(width), formerFormOf(width)].find(({ text }) => text === head?.form);
  if (head === undefined || form === undefined) return undefined;
  const { id, newest, events, nearLimits = [], keptAtMs, hasEnded } = head;
  if (newest.some((slot, resolution) => slot * slotMsOf(resolution) > nowMs)) return undefined;
  let at = bytes.indexOf(NEWLINE) + 1;

  function next(storedWidth: number, wantedWidth: number): SeriesRings {
    const stored = form?.slots.map((slots) => createRing(storedWidth, slots)) ?? [];
    for (const { cells } of stored) {
      const target = Buffer.from(cells.buffer);
      bytes.copy(target, 0, at, at + target.length);
      at += target.length;
    }
    return storedWidth === wantedWidth && form?.width === width ? stored : laidOutAnew(stored, newest, wantedWidth);
  }

  const wide = (names: readonly string[] = []) => new Map(names.map((name) => [name, next(form.width, width)]));
  const all = next(form.width, width);
  const operations = wide(head.operations);
  const organizations = wide(head.organizations);
  const upstreams = wide(head.upstreams);
  const codes = new Map(head.codes.map((name) => [name, next(1, 1)]));
  const isWhole = bytes.length === at;
  const oldestMs = ((newest[COARSEST] ?? 0) - (form.slots[COARSEST] ?? 0) + 1) * slotMsOf(COARSEST);
  const startedAtMs = Math.max(head.startedAtMs, oldestMs);
  if (!isWhole) return undefined;
  const series = { all, operations, organizations, upstreams, codes };
  return { id, startedAtMs, keptAtMs, hasEnded, newest, ...series, events, nearLimits };
}

function slotMsOf(resolution: number): number {
  return RESOLUTIONS[resolution]?.slotMs ?? 0;
}

/** Converts counts to the rings of this release. Counts that are new in this release are 0. */
function laidOutAnew(stored: SeriesRings, newest: readonly number[], width: number): SeriesRings {
  const series = createSeries(width);
  for (const [resolution, ring] of stored.entries()) {
    const last = newest[resolution] ?? 0;
    const slots = ring.cells.length / ring.at(0).length;
    for (let slot = Math.max(0, last - slots + 1); slot <= last; slot += 1) {
      const counts = ring.at(slot);
      series[resolution]?.add(
        slot,
        Array.from({ length: width }, (_, index) => counts[index] ?? 0),
      );
    }
  }
  return series;
}

/** Returns the series in the order of the bytes. */
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
