// Tracks when keys were last used. A use is noted in memory at most once a minute per key, and written in batches outside the request path.

import { type Machine, REAL_MACHINE } from '../shared/machine.ts';
import type { KeyStore } from './store/key-store.ts';

const NOTED_EVERY_MS = 60_000;
const WRITTEN_EVERY_MS = 10_000;
/** A batch takes about 1 ms of this process. */
const BATCH = 200;
/** While the store rejects writes, the oldest notes are dropped, because losing these dates is acceptable, and unbounded memory is not. */
const PENDING_MAX = 50_000;
const LAST_ATTEMPTS_MS = 1000;
const PAUSE_MS = 50;

export interface KeyUses {
  /** Notes the use, unless the last noted use is recent. Returns the noted time in epoch milliseconds. */
  note(id: string, lastNotedAtMs: number): number;
  /** Writes if a batch is full or old enough. The call is cheap enough to repeat often. */
  writeSome(): Promise<void>;
  /** Writes all notes at shutdown. Retries for one second, then drops the rest. */
  writeAll(): Promise<void>;
  pending(): number;
}

interface KeyUsesOptions {
  readonly keys: Pick<KeyStore['keys'], 'noteUses'>;
  now(): number;
  readonly machine?: Machine | undefined;
}

export function createKeyUses({ keys, now, machine = REAL_MACHINE }: KeyUsesOptions): KeyUses {
  const { performance, sleep } = machine;
  const pending = new Map<string, number>();
  let writtenAtMs = now();
  let writing = false;

  async function writeBatch(): Promise<void> {
    const batch = new Map<string, number>();
    for (const [id, usedAtMs] of pending) {
      if (batch.size === BATCH) break;
      batch.set(id, usedAtMs);
    }
    await keys.noteUses(batch);
    for (const [id, usedAtMs] of batch) if (pending.get(id) === usedAtMs) pending.delete(id);
  }

  return {
    note(id, lastNotedAtMs) {
      const nowMs = now();
      if (nowMs - lastNotedAtMs < NOTED_EVERY_MS) return lastNotedAtMs;
      if (pending.size >= PENDING_MAX) pending.delete(pending.keys().next().value ?? '');
      pending.set(id, nowMs);
      return nowMs;
    },
    async writeSome() {
      const due = pending.size >= BATCH || now() - writtenAtMs >= WRITTEN_EVERY_MS;
      if (writing || pending.size === 0 || !due) return;
      writing = true;
      try {
        await writeBatch();
        writtenAtMs = now();
      } catch {
        // Another process is writing, or the store cannot be reached. A later batch repeats the same notes.
      }
      writing = false;
    },
    async writeAll() {
      const endsAt = performance.now() + LAST_ATTEMPTS_MS;
      while (pending.size > 0 && performance.now() < endsAt) {
        try {
          await writeBatch();
        } catch {
          await sleep(PAUSE_MS);
        }
      }
    },
    pending: () => pending.size,
  };
}
