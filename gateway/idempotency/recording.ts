// How the outcome of one request gets into the store, while its client waits or has left already.

import { setTimeout as sleep } from 'node:timers/promises';
import { createDenseSet } from '../dense-set.ts';
import { GatewayError } from '../errors.ts';
import type { Awaitable, RecordedAnswer, Recording, Trail } from '../exchange.ts';
import { mayHaveRun, recordOf, recordOfRefusal } from './record.ts';
import type { Retention } from './retention.ts';
import type { AnswerStore, Claim, Slot } from './store.ts';
import { within } from './within.ts';

/** The longest a client waits for the store, each time it is asked. */
export const STORE_WAIT_MS = 100;
/** What could not be written is tried again for so long, or as long as the lease lasts. */
const PATIENCE_MS = 60_000;
const RETRY_MS = { first: 200, longest: 2_000 } as const;

/** A request that has begun in the store. */
export interface RecordedWrite {
  readonly slot: Slot;
  readonly claim: Claim;
  /** `performance.now()`: from then on others may take its owner for dead. */
  readonly leaseEndsAt: number;
}

export interface RecordingOptions {
  readonly store: AnswerStore;
  readonly retention: Retention;
  readonly bodyBytesMax: number;
}

export interface Recordings {
  /** Notes in the trail when the request was sent and what came of it is not known. */
  recordingOf(attempt: RecordedWrite, trail: Trail): Recording;
  /** Frees the slot of a request that is not sent, while nobody waits for that. */
  forgetLater(attempt: RecordedWrite): void;
  /** Resolves when everything under way is stored, or its time is over. */
  settled(): Promise<void>;
  /** Resolves when everything under way is stored or given up. What fails from now on is not tried again. */
  close(): Promise<void>;
}

export function createRecordings({ store, retention, bodyBytesMax }: RecordingOptions): Recordings {
  const writing = createDenseSet<Promise<void>>();
  let closing = false;

  /** Tried again for some time: if the store was away for a moment only, the outcome is not lost. */
  async function writeUntil(deadline: number, write: () => Awaitable<void>): Promise<void> {
    for (let waitMs: number = RETRY_MS.first; ; waitMs = Math.min(2 * waitMs, RETRY_MS.longest)) {
      try {
        return await write();
      } catch {
        if (closing || performance.now() > deadline) return;
        await sleep(waitMs);
      }
    }
  }

  /** Resolves when it is written or given up. Never rejects. */
  function begin({ leaseEndsAt }: RecordedWrite, write: () => Awaitable<void>): Promise<void> {
    const written = writeUntil(Math.max(leaseEndsAt, performance.now() + PATIENCE_MS), write);
    const entry = writing.add(written);
    written.finally(() => writing.remove(entry));
    return written;
  }

  /** Resolves when it is written, or when the client has waited long enough for that. */
  async function settle(attempt: RecordedWrite, write: () => Awaitable<void>): Promise<void> {
    try {
      await within(STORE_WAIT_MS, begin(attempt, write));
    } catch {
      // It goes on without the client.
    }
  }

  const forget = ({ slot, claim }: RecordedWrite) => store.forget(slot, claim.owner);
  const giveUp = ({ slot, claim }: RecordedWrite) => store.giveUp(slot, claim.owner, retention);
  const finish = ({ slot, claim }: RecordedWrite, record: Buffer | undefined) =>
    store.finish(slot, claim.owner, record, retention);

  function recordingOf(attempt: RecordedWrite, trail: Trail): Recording {
    const { owner, runsAgain } = attempt.claim;
    let isOpen = true;
    let isSent = false;

    /** The first word counts: what goes wrong after an answer was kept does not undo it. */
    async function once(conclude: () => Awaitable<void>): Promise<void> {
      if (!isOpen) return;
      isOpen = false;
      await settle(attempt, conclude);
    }

    function concludeFailed(error: unknown): () => Awaitable<void> {
      const record = recordOfRefusal(owner, error);
      if (record !== undefined) return () => finish(attempt, record);
      if (!isSent || runsAgain || !mayHaveRun(error)) return () => forget(attempt);
      if (isOpen) trail.repeatable = false;
      return () => giveUp(attempt);
    }

    return {
      bodyBytesMax,
      sent() {
        if (performance.now() >= attempt.leaseEndsAt) throw new GatewayError('gateway_overloaded');
        isSent = true;
      },
      keep: (answer: RecordedAnswer) => once(() => finish(attempt, recordOf(owner, answer))),
      fail: (error) => once(concludeFailed(error)),
    };
  }

  async function settled(): Promise<void> {
    await Promise.all(writing.all());
  }

  return {
    recordingOf,
    forgetLater: (attempt) => void begin(attempt, () => forget(attempt)),
    settled,
    close() {
      closing = true;
      return settled();
    },
  };
}
