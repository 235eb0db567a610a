// Reads and writes records under the lease. Throws StoreAway, or LeaseLost if a later holder has taken the lease.

import type { Awaitable } from '../shared/awaitable.ts';
import { type Machine, REAL_MACHINE } from '../shared/machine.ts';
import type { AcmeChanges, AcmeRecords, AcmeStore } from './acme-store.ts';
import { LeaseLost, StoreAway } from './failure.ts';

export interface Journal {
  records(): AcmeRecords;
  confirm(): Promise<void>;
  write(changes: AcmeChanges): Promise<void>;
}

/**
 * The largest share of the lease that a confirmation may take. After a longer one, the lease might end during the next request to the
 * server.
 */
const LATE_SHARE = 1 / 4;

interface JournalOptions {
  readonly store: AcmeStore;
  readonly token: number;
  readonly leaseMs: number;
  readonly records: AcmeRecords;
  readonly performance: Machine['performance'];
}

export function createJournal({ store, token, leaseMs, records, performance }: JournalOptions): Journal {
  const current = new Map(records);
  return {
    records: () => current,
    async confirm() {
      const askedAt = performance.now();
      if (!(await reached(() => store.confirm(token, leaseMs)))) throw new LeaseLost();
      // The process was stopped before it read the answer, so the lease may end before the next request does.
      if (performance.now() - askedAt >= leaseMs * LATE_SHARE) throw new LeaseLost();
    },
    async write(changes) {
      if (!(await reached(() => store.write(token, changes)))) throw new LeaseLost();
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined) current.delete(name);
        else current.set(name, value);
      }
    },
  };
}

async function reached<T>(ask: () => Awaitable<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw new StoreAway((cause as Error).message, { cause });
  }
}

/** @param sliceMs the interval at which the lease is prolonged during a wait */
export function createPause(
  journal: Pick<Journal, 'confirm'>,
  sliceMs: number,
  signal: AbortSignal,
  { sleep }: Machine = REAL_MACHINE,
) {
  return async function pause(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= sliceMs) {
      await sleep(Math.min(leftMs, sliceMs), { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) throw signal.reason;
      await journal.confirm();
    }
  };
}
