// Counts calls of deprecated operations, first in memory, then in the store. The store is opened for the first write.

import type { Permitted } from '../exchange/exchange.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import type { Deprecations } from './deprecation.ts';
import { dayOf, type Use, type UseStore, type UsesOf } from './store.ts';

/** The largest number of rows that wait while the store cannot be reached. More calls are only counted as lost. */
const WAITING_MAX = 50_000;

export interface UsesOptions {
  open(): Awaitable<UseStore>;
  now(): number;
  /** Longest delay before a call is written, milliseconds. */
  readonly flushMs: number;
  /** Called when the store stops accepting writes, and when it accepts them again. */
  onChange(state: UsesStatus): void;
}

export interface UsesStatus {
  /** `unused`: nothing has been written yet. */
  readonly state: 'unused' | 'up' | 'away';
  /** Number of rows waiting to be written. */
  readonly waiting: number;
  /** Number of calls that were not counted. */
  readonly lost: number;
}

interface Uses {
  note(organization: string, operation: string): void;
  /** Writes all calls counted so far, if the store accepts them. Never rejects. */
  flush(): Promise<void>;
  status(): UsesStatus;
  /** Returns everything stored since a day. Rejects if the store cannot be reached. */
  list(sinceDay: string, of?: UsesOf): Promise<readonly Use[]>;
  close(): Promise<void>;
}

export function createUses({ open, now, flushMs, onChange }: UsesOptions): Uses {
  let waiting = new Map<string, Use>();
  let store: UseStore | undefined;
  let state: UsesStatus['state'] = 'unused';
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const status = () => ({ state, waiting: waiting.size, lost });

  function add(use: Use): void {
    const key = `${use.day} ${use.organization} ${use.operation}`;
    const before = waiting.get(key);
    if (before === undefined && waiting.size >= WAITING_MAX) {
      lost += use.calls;
      return;
    }
    const calls = use.calls + (before?.calls ?? 0);
    waiting.set(key, { ...use, calls, lastAtMs: Math.max(use.lastAtMs, before?.lastAtMs ?? 0) });
  }

  function become(next: 'up' | 'away'): void {
    if (state === next) return;
    state = next;
    onChange(status());
  }

  async function write(): Promise<void> {
    if (waiting.size === 0) return;
    const taken = waiting;
    waiting = new Map();
    try {
      store ??= await open();
      await store.add([...taken.values()]);
      become('up');
    } catch {
      for (const use of taken.values()) add(use);
      become('away');
      schedule();
    }
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), flushMs).unref();
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    await running;
    running = write();
    await running;
    running = undefined;
  }

  return {
    note(organization, operation) {
      const nowMs = now();
      add({ day: dayOf(nowMs), organization, operation, calls: 1, lastAtMs: nowMs });
      schedule();
    },
    flush,
    status,
    async list(sinceDay, of) {
      await flush();
      store ??= await open();
      return store.list(sinceDay, of);
    },
    async close() {
      await flush();
      clearTimeout(timer);
      await store?.close();
    },
  };
}

/** Step: counts calls of deprecated operations by the caller's organization. */
export function createNoteUse({ ofOperations }: Deprecations, note: Uses['note']): (permitted: Permitted) => void {
  return function noteUse({ operation, caller }) {
    if (ofOperations.size === 0 || caller.organization === undefined || !ofOperations.has(operation)) return;
    note(caller.organization.id, operation.id);
  };
}
