// Counts calls of what is deprecated, in memory first and then in the store. Opens no store before there is something to write.

import type { Awaitable, Permitted } from '../exchange.ts';
import type { Deprecations } from './deprecation.ts';
import { dayOf, type Use, type UseStore } from './store.ts';

/** Rows that wait for a store that is away; calls for which there is no row any more are only counted as lost. */
const WAITING_MAX = 50_000;

export interface UsesOptions {
  open(): Awaitable<UseStore>;
  now(): number;
  /** How long a call may wait to be written. */
  readonly flushMs: number;
  /** Told when the store stops taking what is written, and when it takes it again. */
  onChange(state: UsesStatus): void;
}

export interface UsesStatus {
  /** `unused`: nothing has been written yet. */
  readonly state: 'unused' | 'up' | 'away';
  /** Rows that wait to be written. */
  readonly waiting: number;
  /** Calls that were counted nowhere. */
  readonly lost: number;
}

export interface Uses {
  note(organization: string, operation: string): void;
  /** What is counted by now is written, if the store takes it. Never rejects. */
  flush(): Promise<void>;
  status(): UsesStatus;
  /** All that is stored from a day on. Rejects when the store is away. */
  list(sinceDay: string): Promise<readonly Use[]>;
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
    async list(sinceDay) {
      await flush();
      store ??= await open();
      return store.list(sinceDay);
    },
    async close() {
      await flush();
      clearTimeout(timer);
      await store?.close();
    },
  };
}

/** Step: notes which organization was admitted to a deprecated operation. */
export function createNoteUse({ ofOperations }: Deprecations, note: Uses['note']): (permitted: Permitted) => void {
  return function noteUse({ operation, caller }) {
    if (ofOperations.size === 0 || caller.organization === undefined || !ofOperations.has(operation)) return;
    note(caller.organization.id, operation.id);
  };
}
