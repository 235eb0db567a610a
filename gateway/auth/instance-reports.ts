// Tells the store that this gateway runs and which changes are in force here, so that whoever ends a key can see when it has ended
// everywhere. Nothing here ever fails or holds anything up: what could not be reported is reported a little later.

import { randomBytes } from 'node:crypto';
import { randomBase62 } from './base62.ts';
import type { Instance, KeyStore } from './store/store.ts';

const ID_LENGTH = 20;
const REPORTED_EVERY_MS = 2000;

export interface InstanceReportsOptions extends Pick<Instance, 'host' | 'pid' | 'startedAtMs'> {
  readonly instances: Pick<KeyStore['instances'], 'report' | 'remove'>;
  /** How long known callers are let in after the store was last read. */
  readonly graceMs: number;
}

export interface InstanceReports {
  /** By which the store knows this gateway. */
  readonly id: string;
  /** Called after every reading of the change stream, with the position from which on nothing that was changed is remembered. */
  noteRead(position: number): void;
  /** Why the store took the last report not; undefined while it takes them. */
  failure(): string | undefined;
  /** Says goodbye. */
  close(): Promise<void>;
}

/** Reports for the first time at once. */
export function createInstanceReports({ instances, graceMs, ...process }: InstanceReportsOptions): InstanceReports {
  const instance = {
    ...process,
    id: `gw_${randomBase62(ID_LENGTH, randomBytes)}`,
    // The stream may have been read last just before the next report was due.
    graceMs: graceMs + 2 * REPORTED_EVERY_MS,
  };
  let position = 0;
  let reported: number | undefined;
  let sending: Promise<void> | undefined;
  let failure: string | undefined;
  let closed = false;

  async function send(): Promise<void> {
    do {
      const upTo = position;
      try {
        await instances.report({ ...instance, position: upTo });
        reported = upTo;
        failure = undefined;
      } catch (cause) {
        failure = cause instanceof Error ? cause.message : String(cause);
        return;
      }
    } while (position !== reported && !closed);
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
      position = upTo;
      if (position !== reported) void report();
    },
    failure: () => failure,
    async close() {
      closed = true;
      clearInterval(timer);
      // A report that came in after the goodbye would bring this gateway back to life.
      await sending;
      try {
        await instances.remove(instance.id);
      } catch {
        // Then it is listed as silent until its grace is over.
      }
    },
  };
}
