// The requests that an upstream has not begun to answer, for /status. They are counted when the status is read, so that a request pays
// nothing for it.

import type { Mode } from '../../exchange/caller.ts';
import type { Deadlines } from './deadlines.ts';

/** The unanswered requests of one operation, in one mode. */
export interface UnansweredRequests {
  /** Method and path template. */
  readonly operation: string;
  readonly mode: Mode;
  readonly requests: number;
  readonly oldest_ms: number;
}

/** A request counts from this age on. */
const LATE_MS = 5000;
/** Operations in one list. */
const OPERATIONS_MAX = 10;

export interface SentRequests {
  /**
   * Adds the deadlines of the upstream under a new configuration. The deadlines of earlier configurations are kept until their exchanges
   * have ended.
   */
  add(deadlines: Deadlines): void;
  /** The operations with the oldest requests first. */
  unansweredRequests(): readonly UnansweredRequests[];
}

export function createSentRequests(): SentRequests {
  let known: readonly Deadlines[] = [];
  return {
    add(deadlines) {
      known = [...known.filter(({ owners }) => owners().length > 0), deadlines];
    },
    unansweredRequests() {
      const now = performance.now();
      const rows = new Map<string, { operation: string; mode: Mode; requests: number; oldest_ms: number }>();
      for (const { exchange, clock } of known.flatMap(({ owners }) => owners())) {
        const sentAt = clock.unansweredSince();
        if (sentAt === undefined || now - sentAt < LATE_MS) continue;
        const {
          operation: { method, path },
          caller: { mode },
        } = exchange;
        const operation = `${method} ${path}`;
        const key = `${mode} ${operation}`;
        const row = rows.get(key) ?? { operation, mode, requests: 0, oldest_ms: 0 };
        row.requests += 1;
        row.oldest_ms = Math.max(row.oldest_ms, Math.round(now - sentAt));
        rows.set(key, row);
      }
      return [...rows.values()].sort((one, other) => other.oldest_ms - one.oldest_ms).slice(0, OPERATIONS_MAX);
    },
  };
}
