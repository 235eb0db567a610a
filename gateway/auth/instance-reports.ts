// Reports to the key store that this gateway runs, and which changes are in force here. With these reports, `keys revoke --wait` knows when
// a revocation has reached every instance. This file also counts the gateways that report, for limits that are divided among them.
// Reporting never throws and delays no request; a failed report is repeated later.

import { type Machine, REAL_MACHINE, type Timer } from '../shared/machine.ts';
import { randomBase62 } from './base62.ts';
import { createListing, REPLICA_LAG_MS } from './listing.ts';
import type { Instance, KeyStore } from './store/key-store.ts';

const ID_LENGTH = 20;
const REPORTED_EVERY_MS = 2000;

interface InstanceReportsOptions extends Pick<Instance, 'host' | 'pid' | 'startedAtMs'> {
  readonly instances: Pick<KeyStore['instances'], 'report' | 'remove'>;
  /** How long cached callers are accepted after the last read of the store. */
  readonly graceMs: number;
  now(): number;
  /** Called when the store has listed this gateway for the first time, or again. */
  onListed(): void;
  readonly machine?: Machine | undefined;
}

type ReadPosition = Pick<Instance, 'position' | 'changedAtMs'>;

export interface InstanceReports {
  readonly id: string;
  /** Call it after every read of the change stream, with the position up to which all outdated cache entries were dropped. */
  noteRead(upTo: ReadPosition): void;
  /**
   * Returns the time since which the store lists this gateway without a break, even if a replica takes over. The time is by
   * `performance.now()`; Infinity if the store may have forgotten this gateway.
   */
  listedSince(): number;
  /** Returns the reason why the last report failed; undefined if it succeeded. */
  failure(): string | undefined;
  /** Stops reporting and removes this instance from the store. */
  close(): Promise<void>;
}

/** Sends the first report at once. */
export function createInstanceReports({
  instances,
  graceMs,
  now,
  onListed,
  machine: { setInterval, clearInterval, randomBytes, performance } = REAL_MACHINE,
  ...process
}: InstanceReportsOptions): InstanceReports {
  const instance = {
    ...process,
    id: `gw_${randomBase62(ID_LENGTH, randomBytes)}`,
    // This is longer than `graceMs`, because the report may be older than the last read of the stream by two intervals, and because the
    // store may lose the latest reports.
    graceMs: graceMs + 3 * REPORTED_EVERY_MS + REPLICA_LAG_MS,
  };
  const listing = createListing({ listedMs: instance.graceMs, reportedEveryMs: REPORTED_EVERY_MS, now, performance });
  let read: ReadPosition = { position: 0 };
  let reported: ReadPosition | undefined;
  let sending: Promise<void> | undefined;
  let failure: string | undefined;
  let closed = false;

  async function send(): Promise<void> {
    do {
      const upTo = read;
      const sent = listing.sending();
      try {
        const server = await instances.report({ ...instance, ...upTo });
        reported = upTo;
        if (listing.noteReport({ ...sent, server }) && !closed) onListed();
        failure = undefined;
      } catch (cause) {
        failure = cause instanceof Error ? cause.message : String(cause);
        return;
      }
    } while (read !== reported && !closed);
  }

  async function report(): Promise<void> {
    if (sending !== undefined || closed) return;
    sending = send();
    await sending;
    sending = undefined;
  }

  const timer = setInterval(report, REPORTED_EVERY_MS).unref();
  void report();

  return {
    id: instance.id,
    noteRead(upTo) {
      if (upTo.position !== read.position || upTo.changedAtMs !== read.changedAtMs) read = upTo;
      if (read !== reported) void report();
    },
    listedSince: listing.since,
    failure: () => failure,
    async close() {
      closed = true;
      clearInterval(timer);
      // A report that arrives after the removal would list this gateway again.
      await sending;
      try {
        await instances.remove(instance.id);
      } catch {
        // The store then lists this instance as silent until its grace period has passed.
      }
    },
  };
}

const COUNTED_EVERY_MS = 5000;
/** Instances report every two seconds, so an instance that has missed several reports has stopped or is about to stop. */
const SILENT_MAX_MS = 10_000;

export interface LiveInstances {
  /** Returns the number of gateways, as last counted; at least 1. */
  count(): number;
  /** Counts now and every few seconds. Call it after this instance has begun to report. The timer does not keep the process alive. */
  begin(): void;
  stop(): void;
}

/** Keeps the last count while the store cannot be reached. `count` returns 1 until `begin` is called. */
export function createLiveInstances(
  instances: Pick<KeyStore['instances'], 'list'>,
  { setInterval, clearInterval } = REAL_MACHINE,
): LiveInstances {
  let count = 1;
  let timer: Timer | undefined;

  async function countAll(): Promise<void> {
    try {
      const live = (await instances.list()).filter(({ silentMs }) => silentMs <= SILENT_MAX_MS);
      // An empty list is ignored. It lacks even this instance, because the store is just back from an outage and no instance has reported
      // yet.
      if (live.length > 0) count = live.length;
    } catch {
      // The store cannot be reached, so the last count is kept.
    }
  }

  return {
    count: () => count,
    begin() {
      timer = setInterval(countAll, COUNTED_EVERY_MS).unref();
      void countAll();
    },
    stop: () => clearInterval(timer),
  };
}
