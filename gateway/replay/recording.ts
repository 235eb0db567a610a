// Writes the outcome of one request to the store, whether or not its client is still connected.

import { GatewayError } from '../catalogue/errors.ts';
import type { Checked, RecordedAnswer, Recording } from '../exchange/exchange.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { startDeadline } from '../shared/deadline.ts';
import { createDenseSet } from '../shared/dense-set.ts';
import { type Machine, REAL_MACHINE } from '../shared/machine.ts';
import { bodyToRepeat, mayHaveRun, outcomeOfAnswer, outcomeOfRefusal } from './outcome.ts';
import type { AnswerKey, Claim, ReplayStore, Retention } from './replay-store.ts';

/** The longest time that a client waits for each call of the store. */
export const STORE_WAIT_MS = 100;
/** A failed write is retried for this time, or until the lease ends if that is later. */
const PATIENCE_MS = 60_000;
const RETRY_MS = { first: 200, longest: 2_000 } as const;

/** A request that has begun in the store. */
export interface ClaimedWrite {
  readonly answerKey: AnswerKey;
  readonly claim: Claim;
  /** `performance.now()` at the end of the lease. From then on, other instances may consider the owner dead. */
  readonly leaseEndsAt: number;
}

interface RecordingOptions {
  readonly store: ReplayStore;
  readonly retention: Retention;
  readonly bodyBytesMax: number;
  readonly machine?: Machine | undefined;
}

type RecordedExchange = Pick<Checked, 'state' | 'trail' | 'operation'>;

export interface Recordings {
  /** Returns the recording of a request. The recording notes in the trail if the request was sent and its outcome is unknown. */
  recordingOf(claimed: ClaimedWrite, exchange: RecordedExchange): Recording;
  /** Frees the key of a request that was not sent, in the background. */
  forgetLater(claimed: ClaimedWrite): void;
  /** Resolves when every write in progress is stored or has run out of time. */
  settled(): Promise<void>;
  /** Resolves when every write in progress is stored or given up. Failed writes are not retried from now on. */
  close(): Promise<void>;
}

export function createRecordings(options: RecordingOptions): Recordings {
  const { machine = REAL_MACHINE } = options;
  const { performance, sleep } = machine;
  const writing = createDenseSet<Promise<void>>();
  let closing = false;

  /** Retries until the deadline, so that a short outage of the store does not lose the outcome. */
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

  /** Resolves when the outcome is written or given up. Never rejects. */
  function begin({ leaseEndsAt }: ClaimedWrite, write: () => Awaitable<void>): Promise<void> {
    const written = writeUntil(Math.max(leaseEndsAt, performance.now() + PATIENCE_MS), write);
    const entry = writing.add(written);
    written.finally(() => writing.remove(entry));
    return written;
  }

  /** Resolves when the outcome is written, or when the client has waited long enough. */
  async function settle(claimed: ClaimedWrite, write: () => Awaitable<void>): Promise<void> {
    try {
      await within(STORE_WAIT_MS, begin(claimed, write), machine);
    } catch {
      // The write continues in the background.
    }
  }

  async function settled(): Promise<void> {
    await Promise.all(writing.all());
  }

  return {
    recordingOf: (claimed, exchange) => recordingOf(claimed, exchange, options, settle),
    forgetLater: (claimed) => void begin(claimed, () => forget(claimed, options)),
    settled,
    close() {
      closing = true;
      return settled();
    },
  };
}

/** @param settle writes an outcome, and resolves when it is written or when the client has waited long enough */
function recordingOf(
  claimed: ClaimedWrite,
  { state, trail, operation }: RecordedExchange,
  options: RecordingOptions,
  settle: (claimed: ClaimedWrite, write: () => Awaitable<void>) => Promise<void>,
): Recording {
  const { store, retention, bodyBytesMax, machine = REAL_MACHINE } = options;
  const { answerKey, claim } = claimed;
  const { owner, runsAgain } = claim;
  let isOpen = true;
  let isSent = false;

  /** Stores only the first outcome, so that a later failure does not replace a stored answer. */
  async function once(conclude: () => Awaitable<void>): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await settle(claimed, conclude);
  }

  function storedAnswer(answer: RecordedAnswer): RecordedAnswer {
    const { once: shownOnce } = operation;
    return shownOnce === undefined ? answer : { ...answer, body: bodyToRepeat(answer.body, shownOnce) };
  }

  function concludeFailed(error: unknown): () => Awaitable<void> {
    const refusal = outcomeOfRefusal(owner, error);
    if (refusal !== undefined) return () => store.finish(answerKey, owner, refusal, retention);
    if (!isSent || !mayHaveRun(error)) return () => forget(claimed, options);
    // If a retry may run again, it will have its own outcome, so nothing is noted.
    if (isOpen && !runsAgain) {
      trail.note('outcomeUnknown', true);
      state.isUnprotected = true;
    }
    return () => store.giveUp(answerKey, owner, retention);
  }

  return {
    bodyBytesMax,
    sent() {
      if (machine.performance.now() >= claimed.leaseEndsAt) throw new GatewayError('gateway_overloaded');
      isSent = true;
    },
    keep: (answer: RecordedAnswer) =>
      once(() => store.finish(answerKey, owner, outcomeOfAnswer(owner, storedAnswer(answer)), retention)),
    endWithoutAnswer: (error) => once(concludeFailed(error)),
  };
}

function forget({ answerKey, claim }: ClaimedWrite, { store }: RecordingOptions): Awaitable<void> {
  return store.forget(answerKey, claim.owner);
}

/** Waits for the store with a bound. Settles as `answer` does, or rejects after `ms` milliseconds. */
export function within<T>(ms: number, answer: Awaitable<T>, machine = REAL_MACHINE): Awaitable<T> {
  if (!(answer instanceof Promise)) return answer;
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no answer within ${ms} ms`));
    const deadline = startDeadline(ms, late, machine);
    answer.then(resolve, reject).finally(deadline.stop);
  });
}
