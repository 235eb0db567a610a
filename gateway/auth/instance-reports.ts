// Reports to the store that this gateway runs, and which changes are in force here. An operator who revokes a key sees from these reports
// when the revocation has reached every instance. Never throws and delays no request: a failed report is repeated later.

import { type Machine, realMachine } from '../shared/machine.ts';
import { randomBase62 } from './base62.ts';
import type { Instance, KeyStore } from './store/key-store.ts';

const ID_LENGTH = 20;
const REPORTED_EVERY_MS = 2000;
/** A replica that takes over may lack the reports of this time, which is the default of `min-replicas-max-lag`. */
const REPLICA_LAG_MS = 10_000;

interface InstanceReportsOptions extends Pick<Instance, 'host' | 'pid' | 'startedAtMs'> {
  readonly instances: Pick<KeyStore['instances'], 'report' | 'remove'>;
  /** How long cached callers are accepted after the last read of the store. */
  readonly graceMs: number;
  readonly machine?: Machine | undefined;
}

type Read = Pick<Instance, 'position' | 'changedAtMs'>;

interface InstanceReports {
  /** Id of this gateway in the store. */
  readonly id: string;
  /** Called after every read of the change stream, with the position up to which all outdated cache entries were dropped. */
  noteRead(upTo: Read): void;
  /** Reason why the last report failed; undefined after a successful one. */
  failure(): string | undefined;
  /** Stops reporting and removes this instance from the store. */
  close(): Promise<void>;
}

/** Sends the first report at once. */
export function createInstanceReports({
  instances,
  graceMs,
  machine: { setInterval, clearInterval, randomBytes } = realMachine,
  ...process
}: InstanceReportsOptions): InstanceReports {
  const instance = {
    ...process,
    id: `gw_${randomBase62(ID_LENGTH, randomBytes)}`,
    // The stream may have been last read just before the next report was due, and the store may lose that report and those before it.
    graceMs: graceMs + 2 * REPORTED_EVERY_MS + REPLICA_LAG_MS,
  };
  let read: Read = { position: 0 };
  let reported: Read | undefined;
  let sending: Promise<void> | undefined;
  let failure: string | undefined;
  let closed = false;

  async function send(): Promise<void> {
    do {
      const upTo = read;
      try {
        await instances.report({ ...instance, ...upTo });
        reported = upTo;
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
