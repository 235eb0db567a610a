// Stage: has this write been sent before? Throws idempotency_key_in_use, idempotency_key_reused, idempotency_result_not_retained,
// idempotency_outcome_unknown, gateway_overloaded, and once more what the upstream refused the first time with.

import { GatewayError } from '../errors.ts';
import type { Awaitable, Checked, Fresh } from '../exchange.ts';
import { digestOf, fingerprintOf } from './fingerprint.ts';
import { parseOutcome, type RecordedOutcome } from './record.ts';
import { createRecordings, type RecordedWrite, STORE_WAIT_MS } from './recording.ts';
import type { AnswerStore, Begun, Lost } from './store.ts';
import { within } from './within.ts';

/** On top of an upstream's deadline: what an exchange takes before and after it, and how far two instances may differ in speed. */
export const LEASE_MARGIN_MS = 5_000;

export interface IdempotencyOptions {
  readonly store: AnswerStore;
  /** The text of a well-formed Idempotency-Key, quoted or bare. */
  keyOf(header: string): string | undefined;
  timeoutMs(upstream: string): number;
  /** Whether the upstream itself guarantees that a repeated key runs once. */
  honoursKey(upstream: string): boolean;
  /** Whether a request whose outcome is unknown may be sent to the upstream again, which then may execute it a second time. */
  runsUnknown(upstream: string): boolean;
  readonly retainSeconds: number;
  /** Longer answers are not kept. */
  readonly answerBytesMax: number;
  /** What one organization may have stored; see retention.ts. */
  readonly organizationBytesMax: number;
  /** Epoch milliseconds. */
  now(): number;
}

export interface Idempotency {
  /** Synchronous where there is nothing to remember. */
  replay(checked: Checked): Awaitable<Fresh | undefined>;
  /** Resolves when everything under way is stored, or its lease has ended. */
  settled(): Promise<void>;
  /** Resolves when everything under way is stored or given up. The store stays the caller's. */
  close(): Promise<void>;
}

export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const { store } = options;
  const recordings = createRecordings({
    store,
    retention: { retainMs: options.retainSeconds * 1000, organizationBytesMax: options.organizationBytesMax },
    bodyBytesMax: options.answerBytesMax,
  });

  function replay(checked: Checked): Awaitable<Fresh | undefined> {
    const header = checked.headers.get('idempotency-key');
    if (header === undefined) return { ...checked, recording: undefined };
    const attempt = attemptOf(checked, header, options);
    return attempt === undefined ? unrecorded(checked) : once(checked, attempt);
  }

  /** A key that is not remembered here protects only where it is passed on and the upstream honours it. */
  function unrecorded(checked: Checked): Fresh {
    const { operation, trail } = checked;
    trail.repeatable = operation.idempotency !== 'off' && runsAgain(options, operation.upstream);
    return { ...checked, recording: undefined };
  }

  async function once(checked: Checked, attempt: RecordedWrite): Promise<Fresh | undefined> {
    const { trail } = checked;
    const begun = await begin(checked, attempt);
    switch (begun?.state) {
      case undefined:
        return { ...checked, recording: undefined };
      case 'started':
        trail.recorded = true;
        return { ...checked, recording: recordings.recordingOf(attempt, trail) };
      case 'running':
        throw new GatewayError('idempotency_key_in_use');
      case 'different':
        throw new GatewayError('idempotency_key_reused');
      case 'unknown':
        throw new GatewayError('idempotency_outcome_unknown', { fields: knownOf(begun) });
      case 'done':
        if (begun.record === undefined) throw new GatewayError('idempotency_result_not_retained');
        trail.replayed = true;
        giveAgain(checked, parseOutcome(begun.record));
        return undefined;
    }
  }

  /** Undefined: whether the request has run before cannot be asked, and the upstream will see to it that it does not run twice. */
  async function begin(checked: Checked, attempt: RecordedWrite): Promise<Begun | undefined> {
    const wasUp = store.status().state === 'up';
    const begun = begunBy(attempt);
    try {
      return await within(STORE_WAIT_MS, begun);
    } catch (cause) {
      if (wasUp) void forgetUnheard(attempt, begun);
      if (options.honoursKey(checked.operation.upstream)) return undefined;
      throw new GatewayError('gateway_overloaded', { cause });
    }
  }

  /** What a store throws at once is a rejection, too. */
  function begunBy({ slot, claim }: RecordedWrite): Awaitable<Begun> {
    try {
      return store.begin(slot, claim);
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  /**
   * It may have begun there without our hearing of it, and nothing was sent: its key must not be taken for one whose outcome is unknown. A
   * store that was away before is told nothing, since nothing has reached it.
   */
  async function forgetUnheard(attempt: RecordedWrite, begun: Awaitable<Begun>): Promise<void> {
    try {
      if ((await begun).state !== 'started') return;
    } catch {
      // Whether it has begun is not known.
    }
    recordings.forgetLater(attempt);
  }

  return { replay, settled: recordings.settled, close: recordings.close };
}

/** Undefined: not to be remembered. A body that streams cannot be compared, and on public operations keys of strangers would meet. */
function attemptOf(checked: Checked, header: string, options: IdempotencyOptions): RecordedWrite | undefined {
  const { operation, caller, hasBody, id } = checked;
  const { idempotency, upstream } = operation;
  if (idempotency === 'off' || caller.organization === undefined) return undefined;
  const key = options.keyOf(header);
  if (key === undefined || (hasBody && operation.body === 'stream')) return undefined;
  const leaseMs = options.timeoutMs(upstream) + LEASE_MARGIN_MS;
  return {
    slot: { organization: caller.organization.id, mode: caller.mode, digest: digestOf(key) },
    claim: {
      fingerprint: fingerprintOf(checked, key),
      owner: id,
      leaseMs,
      retainMs: options.retainSeconds * 1000,
      sentAtMs: options.now(),
      upstream,
      runsAgain: runsAgain(options, upstream),
    },
    leaseEndsAt: performance.now() + leaseMs,
  };
}

/** Whether a request whose outcome is unknown may be sent once more. */
function runsAgain({ honoursKey, runsUnknown }: IdempotencyOptions, upstream: string): boolean {
  return honoursKey(upstream) || runsUnknown(upstream);
}

/** Members of the error object. */
function knownOf({ owner, sentAtMs, upstream }: Lost): Record<string, string | undefined> {
  const sentAt = sentAtMs === undefined ? undefined : new Date(sentAtMs).toISOString();
  return { original_request_id: owner, sent_at: sentAt, sent_to: upstream };
}

/** As the first time, but for what belongs to this exchange: request id, date, limits. */
function giveAgain({ response, trail, carried }: Checked, outcome: RecordedOutcome): void {
  const about = { 'Idempotent-Replayed': 'true', 'Original-Request-Id': outcome.requestId };
  if (outcome.kind === 'refusal') {
    const { code, details } = outcome;
    throw new GatewayError(code, { ...details, headers: { ...details.headers, ...about } });
  }
  if (response.destroyed) return;
  const { status, headers, body } = outcome;
  const head = [...carried, ...headers, ...Object.entries(about).flat()];
  if (status !== 204 && status !== 304) head.push('Content-Length', String(body.length));
  trail.status = status;
  trail.bytesOut = body.length;
  response.writeHead(status, head);
  response.end(body);
}
