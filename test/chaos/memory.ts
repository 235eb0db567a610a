// How much memory each process has, from time to time, and whether one that lived for long has grown.

import { processTree, residentBytesOf } from '../../bench/machine.ts';

export interface ProcessMemory {
  readonly process: string;
  readonly minutes: number;
  /** Megabytes: one minute after its beginning, and at the end. */
  readonly from: number;
  readonly to: number;
}

interface MemoryWatch {
  /** Of processes that are there at the end and have been for at least three minutes. */
  stop(): ProcessMemory[];
}

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

const EVERY_MS = 2000;
const WARM_MS = 60_000;
const LONG_MS = 180_000;
const SPAN_MS = 30_000;
const MEGABYTE = 2 ** 20;

/** @param more returns other processes that are not children of the first one */
export function watchMemory(pid: number, more: () => readonly number[]): MemoryWatch {
  const samples = new Map<number, Sample[]>();
  const sample = () => {
    for (const one of new Set([...processTree(pid), ...more()])) {
      const bytes = bytesOf(one);
      if (bytes !== undefined) samples.set(one, [...(samples.get(one) ?? []), { at: Date.now(), bytes }]);
    }
  };
  const timer = setInterval(sample, EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      const endedAt = Date.now();
      const longOnes = [...samples].filter(([, [first]]) => first !== undefined && endedAt - first.at >= LONG_MS);
      const present = longOnes.filter(([, all]) => endedAt - (all.at(-1)?.at ?? 0) <= 2 * EVERY_MS);
      return present.map(([one, all]) => {
        const beganAt = all[0]?.at ?? 0;
        const between = (from: number, to: number) => medianOf(all.filter(({ at }) => at >= from && at <= to));
        return {
          process: `${one === pid ? 'primary' : more().includes(one) ? 'sandbox' : 'worker'} ${one}`,
          minutes: Math.round((endedAt - beganAt) / 6000) / 10,
          from: between(beganAt + WARM_MS, beganAt + WARM_MS + SPAN_MS),
          to: between(endedAt - SPAN_MS, endedAt),
        };
      });
    },
  };
}

function bytesOf(pid: number): number | undefined {
  try {
    const bytes = residentBytesOf([pid]);
    return bytes > 0 ? bytes : undefined;
  } catch {
    // It has ended.
    return undefined;
  }
}

function medianOf(samples: readonly Sample[]): number {
  const sorted = samples.map(({ bytes }) => bytes).sort((one, other) => one - other);
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) / MEGABYTE);
}
