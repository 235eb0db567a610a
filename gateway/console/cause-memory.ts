// Remembers causes from one look to the next: those that last, and the culprits whose symptoms are still counted in the last minute.

import type { Cause } from './cause.ts';
import { MINUTE_SLOTS } from './history.ts';
import { RESOLUTIONS } from './ranges.ts';

export interface CauseMemory {
  /** Whether the cause was there at the last look. */
  lasts(id: string): boolean;
  /** Ids of the failures of the gateway and of upstreams in whose time requests of the last minute were made. */
  culprits(nowMs: number): readonly string[];
  /** How long ago the failure was seen last, in milliseconds; Infinity if it is not remembered. */
  agoMs(id: string, nowMs: number): number;
  note(causes: readonly Cause[], nowMs: number): void;
}

/** A culprit may have lasted for one slot more than it was seen. */
const COUNTED_MS = (MINUTE_SLOTS + 1) * RESOLUTIONS[0].slotMs;

/** Whether a failure lets requests to operations fail, or get refused. */
export function isCulprit(id: string): boolean {
  return /^(redis|stores|loop|shedding|upstream )/.test(id);
}

export function createCauseMemory(): CauseMemory {
  const seenMs = new Map<string, number>();
  let lasting: ReadonlySet<string> = new Set();
  return {
    lasts: (id) => lasting.has(id),
    culprits: (nowMs) => [...seenMs].filter(([, atMs]) => nowMs - atMs < COUNTED_MS).map(([id]) => id),
    agoMs: (id, nowMs) => nowMs - (seenMs.get(id) ?? Number.NEGATIVE_INFINITY),
    note(causes, nowMs) {
      lasting = new Set(causes.map(({ id }) => id));
      for (const [id, atMs] of seenMs) if (nowMs - atMs >= COUNTED_MS) seenMs.delete(id);
      for (const { id, kind } of causes) if (kind === 'bad' && isCulprit(id)) seenMs.set(id, nowMs);
    },
  };
}
