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
  readonly machine: Pick<Machine, 'now' | 'performance'>;
}

export function createJournal({ store, token, leaseMs, records, machine }: JournalOptions): Journal {
  const current = new Map(records);
  return {
    records: () => current,
    async confirm() {
      const elapsed = stopwatch(machine);
      if (!(await reached(() => store.confirm(token, leaseMs)))) throw new LeaseLost();
      // The process was stopped before it read the answer, so the lease may end before the next request does.
      if (elapsed() >= leaseMs * LATE_SHARE) throw new LeaseLost();
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

/**
 * Returns a function that gives the milliseconds since now. The monotonic clock stands still while a machine is suspended, the other one
 * does not. If that one was set forward, a lease counts as lost that is not: harmless, it is taken again.
 */
function stopwatch({ now, performance }: JournalOptions['machine']): () => number {
  const [fromMs, monotonicFromMs] = [now(), performance.now()];
  return () => Math.max(now() - fromMs, performance.now() - monotonicFromMs);
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
