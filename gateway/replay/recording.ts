// How the outcome of one request gets into the store, while its client waits or has left already.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Awaitable, RecordedAnswer, Recording } from '../exchange.ts';
import { createRoster } from '../roster.ts';
import { recordOf, recordOfRefusal } from './record.ts';
import type { Retention } from './retention.ts';
import type { AnswerStore, Slot } from './store.ts';
import { within } from './within.ts';

/** The longest a client waits for the store, each time it is asked. */
export const STORE_WAIT_MS = 100;
const RETRY_MS = 200;

/** A request that has begun in the store. */
export interface Attempt {
  readonly slot: Slot;
  readonly fingerprint: string;
  /** The request's id: names the owner in the store, and the original in every replay. */
  readonly owner: string;
  readonly leaseMs: number;
}

export interface RecordingOptions {
  readonly store: AnswerStore;
  readonly retention: Retention;
  readonly bodyBytesMax: number;
}

export interface Recordings {
  recordingOf(attempt: Attempt): Recording;
  /** Resolves when everything under way is stored, or its lease has ended. */
  settled(): Promise<void>;
  /** Resolves when everything under way is stored or given up. What fails from now on is not tried again. */
  close(): Promise<void>;
}

export function createRecordings({ store, retention, bodyBytesMax }: RecordingOptions): Recordings {
  const writing = createRoster<Promise<void>>();
  let closing = false;

  /** Tried again while the lease lasts: if the store was away for a moment only, the outcome is not lost. */
  async function writeUntil(deadline: number, write: () => Awaitable<void>): Promise<void> {
    for (;;) {
      try {
        return await write();
      } catch {
        if (closing || performance.now() > deadline) return;
        await sleep(RETRY_MS);
      }
    }
  }

  /** Resolves when it is written, or when the client has waited long enough for that. */
  async function settle({ leaseMs }: Attempt, write: () => Awaitable<void>): Promise<void> {
    const written = writeUntil(performance.now() + leaseMs, write);
    const entry = writing.add(written);
    written.finally(() => writing.remove(entry));
    try {
      await within(STORE_WAIT_MS, written);
    } catch {
      // It goes on without the client.
    }
  }

  function forget(attempt: Attempt): Promise<void> {
    return settle(attempt, () => store.forget(attempt.slot, attempt.owner));
  }

  function finish(attempt: Attempt, record: Buffer | undefined): Promise<void> {
    return settle(attempt, () => store.finish(attempt.slot, attempt.owner, record, retention));
  }

  function recordingOf(attempt: Attempt): Recording {
    let isOpen = true;

    /** The first word counts: what goes wrong after an answer was kept does not undo it. */
    async function once(conclude: () => Promise<void>): Promise<void> {
      if (!isOpen) return;
      isOpen = false;
      await conclude();
    }

    return {
      bodyBytesMax,
      keep: (answer: RecordedAnswer) => once(() => finish(attempt, recordOf(attempt.owner, answer))),
      fail(error) {
        const record = recordOfRefusal(attempt.owner, error);
        return once(() => (record === undefined ? forget(attempt) : finish(attempt, record)));
      },
    };
  }

  async function settled(): Promise<void> {
    await Promise.all(writing.all());
  }

  function close(): Promise<void> {
    closing = true;
    return settled();
  }

  return { recordingOf, settled, close };
}
