// The context of one attempt while this instance has the lease: settings, client, records, clock.

import type { Awaitable } from '../shared/awaitable.ts';
import { type Machine, realMachine } from '../shared/machine.ts';
import type { TextSeal } from '../shared/stores/seal.ts';
import type { AcmeClient } from './acme-client.ts';
import type { AcmeChanges, AcmeRecords, AcmeStore } from './acme-store.ts';
import { LeaseLost, StoreAway } from './failure.ts';

/** The settings of `tls.acme`. */
export interface AcmeSettings {
  /** URL of the directory. */
  readonly directory: string;
  readonly contacts: readonly string[];
  readonly challenge: 'tls-alpn-01' | 'http-01';
  readonly certificates: readonly (readonly string[])[];
  readonly externalAccount?: { readonly keyId: string; readonly secret: string } | undefined;
}

/** The records under a lease. Throws LeaseLost as soon as a later holder has taken it. */
interface Journal {
  records(): AcmeRecords;
  confirm(): Promise<void>;
  write(changes: AcmeChanges): Promise<void>;
}

export interface Work {
  readonly settings: AcmeSettings;
  readonly client: AcmeClient;
  readonly journal: Journal;
  readonly seal: TextSeal;
  now(): number;
  /** Waits, and keeps the lease during the wait. */
  pause(ms: number): Promise<void>;
  readonly machine: Machine;
}

/** A confirmation that took this share of a lease counts as lost: the rest is no longer than a request to the server may take. */
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
      // The process has stood still before it took the answer: what is left of the lease may end before a request does.
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

/** @param sliceMs the lease is confirmed after each slice */
export function createPause(
  journal: Pick<Journal, 'confirm'>,
  sliceMs: number,
  signal: AbortSignal,
  { sleep }: Machine = realMachine,
) {
  return async function pause(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= sliceMs) {
      await sleep(Math.min(leftMs, sliceMs), { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) throw signal.reason;
      await journal.confirm();
    }
  };
}
