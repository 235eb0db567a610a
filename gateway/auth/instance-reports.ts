// Reports to the key store that this gateway runs, and which changes are in force here. With these reports, `keys revoke --wait` knows when
// a revocation has reached every instance. Reporting never throws and delays no request; a failed report is repeated later.

import { type Machine, REAL_MACHINE } from '../shared/machine.ts';
import { randomBase62 } from './base62.ts';
import { createListing, type InstanceListing, REPLICA_LAG_MS } from './listing.ts';
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

/** Sends the first report at once. */
export class InstanceReports {
  readonly #instances: InstanceReportsOptions['instances'];
  readonly #instance: Omit<Instance, keyof ReadPosition>;
  readonly #listing: InstanceListing;
  readonly #onListed: () => void;
  readonly #endTimer: () => void;
  #read: ReadPosition = { position: 0 };
  #reported: ReadPosition | undefined;
  #sending: Promise<void> | undefined;
  #failure: string | undefined;
  #closed = false;

  constructor({ instances, graceMs, now, onListed, machine = REAL_MACHINE, ...process }: InstanceReportsOptions) {
    const { setInterval, clearInterval, randomBytes, performance } = machine;
    this.#instances = instances;
    this.#instance = {
      ...process,
      id: `gw_${randomBase62(ID_LENGTH, randomBytes)}`,
      // This is longer than `graceMs`, because the report may be older than the last read of the stream by two intervals, and because the
      // store may lose the latest reports.
      graceMs: graceMs + 3 * REPORTED_EVERY_MS + REPLICA_LAG_MS,
    };
    const listedMs = this.#instance.graceMs;
    this.#listing = createListing({ listedMs, reportedEveryMs: REPORTED_EVERY_MS, now, performance });
    this.#onListed = onListed;
    const timer = setInterval(() => this.#report(), REPORTED_EVERY_MS).unref();
    this.#endTimer = () => clearInterval(timer);
    void this.#report();
  }

  get id(): string {
    return this.#instance.id;
  }

  /** Call it after every read of the change stream, with the position up to which all outdated cache entries were dropped. */
  noteRead(upTo: ReadPosition): void {
    const { position, changedAtMs } = this.#read;
    if (upTo.position !== position || upTo.changedAtMs !== changedAtMs) this.#read = upTo;
    if (this.#read !== this.#reported) void this.#report();
  }

  /**
   * Returns the time since which the store lists this gateway without a break, even if a replica takes over. The time is by
   * `performance.now()`; Infinity if the store may have forgotten this gateway.
   */
  listedSince(): number {
    return this.#listing.since();
  }

  /** Returns the reason why the last report failed; undefined if it succeeded. */
  failure(): string | undefined {
    return this.#failure;
  }

  /** Stops reporting and removes this instance from the store. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#endTimer();
    // A report that arrives after the removal would list this gateway again.
    await this.#sending;
    try {
      await this.#instances.remove(this.id);
    } catch {
      // The store then lists this instance as silent until its grace period has passed.
    }
  }

  async #report(): Promise<void> {
    if (this.#sending !== undefined || this.#closed) return;
    this.#sending = this.#send();
    await this.#sending;
    this.#sending = undefined;
  }

  async #send(): Promise<void> {
    do {
      const upTo = this.#read;
      const sent = this.#listing.sending();
      try {
        const server = await this.#instances.report({ ...this.#instance, ...upTo });
        this.#reported = upTo;
        if (this.#listing.noteReport({ ...sent, server }) && !this.#closed) this.#onListed();
        this.#failure = undefined;
      } catch (cause) {
        this.#failure = cause instanceof Error ? cause.message : String(cause);
        return;
      }
    } while (this.#read !== this.#reported && !this.#closed);
  }
}
