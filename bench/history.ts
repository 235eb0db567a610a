// Pure: the history of earlier runs, and whether a run is dearer than they were. Only ratios to the floor of the same run are compared, and
// only runs on the same model of CPU.

import type { Machine } from './machine.ts';
import type { Manner, Result } from './results.ts';
import { median, round } from './statistics.ts';

/** One contestant in one scenario of one run: a line of history.jsonl. */
export interface HistoryLine extends Pick<Machine, 'date' | 'commit' | 'cpu' | 'cores' | 'node'> {
  readonly manner: Manner;
  readonly contestant: string;
  readonly scenario: string;
  readonly cpuMicros: number;
  /** To the floor. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  /** The probability that the interval from low to high holds the ratio. */
  readonly confidence: number;
}

/** The lines of a run; none without a floor. */
export function linesOf({ date, commit, cpu, cores, node }: Machine, results: readonly Result[]): HistoryLine[] {
  return results.flatMap(({ manner, id, scenario, cpuMicros, timesFloor, timesFloorInterval }) => {
    if (timesFloor === undefined || timesFloorInterval === undefined) return [];
    const { low, high, confidence } = timesFloorInterval;
    const run = { date, commit, cpu, cores, node, manner, contestant: id, scenario, cpuMicros, ratio: timesFloor };
    return [{ ...run, low: round(low, 3), high: round(high, 3), confidence: round(confidence, 3) }];
  });
}

/** Throws at a line that is none, with its number. */
export function readHistory(text: string): HistoryLine[] {
  return text.split('\n').flatMap((line, index) => {
    if (line === '') return [];
    const parsed = parse(line);
    if (typeof parsed?.ratio === 'number' && typeof parsed.cpu === 'string') return [parsed as HistoryLine];
    throw new Error(`Line ${index + 1} of the history is not one of a run: ${line.slice(0, 80)}`);
  });
}

function parse(line: string): Partial<HistoryLine> | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export function writeHistory(lines: readonly HistoryLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** A ratio to the floor beside its median in earlier runs. */
export interface Change {
  readonly manner: Manner;
  readonly contestant: string;
  readonly scenario: string;
  readonly ratio: number;
  /** How many earlier lines there are on this model of CPU. */
  readonly runs: number;
  readonly earlier: number;
  /** Positive: dearer. */
  readonly changePercent: number;
  readonly holds: boolean;
}

/** A change up to this is taken for chance. */
export const DEARER_MAX = 1.05;

/** How each line of a run compares with the earlier ones of its kind, as far as there are any. */
export function changesSince(earlier: readonly HistoryLine[], run: readonly HistoryLine[]): Change[] {
  return run.flatMap((line) => {
    const { manner, contestant, scenario, ratio } = line;
    const ratios = earlier.filter((other) => isSameKind(other, line)).map((other) => other.ratio);
    if (ratios.length === 0) return [];
    const middle = median(ratios);
    const change = { ratio, runs: ratios.length, earlier: round(middle, 3), holds: ratio <= middle * DEARER_MAX };
    return [{ manner, contestant, scenario, ...change, changePercent: round((ratio / middle - 1) * 100, 1) }];
  });
}

function isSameKind(one: HistoryLine, other: HistoryLine): boolean {
  return (['cpu', 'manner', 'contestant', 'scenario'] as const).every((member) => one[member] === other[member]);
}
