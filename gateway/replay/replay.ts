// Stage: recognises repeated writes by their Idempotency-Key. Throws idempotency_key_in_use, idempotency_key_reused,
// idempotency_result_not_retained, idempotency_outcome_unknown, gateway_overloaded, and the stored refusal of the upstream.

import { GatewayError } from '../catalogue/errors.ts';
import { type Checked, extend, type Forwardable, type Recording } from '../exchange/exchange.ts';
import type { Operation } from '../exchange/operation.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { delimiterOfForm } from '../shared/http/forms.ts';
import { parseIdempotencyKey } from '../shared/http/idempotency-key.ts';
import { type Machine, REAL_MACHINE } from '../shared/machine.ts';
import { digestOf, fingerprintOf } from './fingerprint.ts';
import { type Outcome, parseOutcome } from './outcome.ts';
import { type ClaimedWrite, createRecordings, type Recordings, STORE_WAIT_MS, within } from './recording.ts';
import { type ClaimResult, NotReplicated, type ReplayStore, type UnknownOutcome } from './replay-store.ts';
import type { ReplaySettings } from './settings.ts';

/**
 * The lease is longer than the deadline of the upstream by this time, in which an exchange does its work before and after its upstream. The
 * time also covers the difference between the clocks of two instances.
 */
export const LEASE_MARGIN_MS = 5_000;

interface ReplayOptions extends ReplaySettings {
  readonly store: ReplayStore;
  /** Deadline for the whole answer of a recorded request, which is buffered. */
  timeoutMs(operation: Operation): number;
  /** Whether the upstream itself guarantees that a repeated key is executed once. */
  honoursKey(upstream: string): boolean;
  /** Whether a request with an unknown outcome may be sent again, although the upstream may then execute it a second time. */
  runsUnknown(upstream: string): boolean;
  /** Epoch milliseconds. */
  now(): number;
  readonly machine?: Machine | undefined;
}

export interface Replay {
  /** Returns undefined after a replay. Synchronous for a request that is not recorded. */
  replay(checked: Checked): Awaitable<Forwardable | undefined>;
  /** Resolves when every outcome in progress is stored, or its lease has ended. */
  settled(): Promise<void>;
  /** Resolves when every outcome in progress is stored or given up. Does not close the store. */
  close(): Promise<void>;
}

interface KeyedWrite extends ClaimedWrite {
  /** The text of the `Idempotency-Key`. */
  readonly key: string;
}

export function createReplay(options: ReplayOptions): Replay {
  const recordings = createRecordings({
    store: options.store,
    retention: { retainMs: options.retainSeconds * 1000, organizationBytesMax: options.organizationBytesMax },
    bodyBytesMax: options.answerBytesMax,
    machine: options.machine,
  });
  const recognize = createRecognize(options, recordings);

  function replay(checked: Checked): Awaitable<Forwardable | undefined> {
    const header = checked.headers.get('idempotency-key');
    if (header === undefined) return withRecording(checked, undefined);
    const write = keyedWriteOf(checked, header, options);
    return write === undefined ? forwardUnrecorded(checked) : once(checked, write);
  }

  /** Forwards a request that is not recorded. Its key prevents a second execution only if the upstream honours keys. */
  function forwardUnrecorded(checked: Checked): Forwardable {
    const { operation, state } = checked;
    if (operation.idempotency === 'off' || !runsAgain(options, operation.upstream)) state.isUnprotected = true;
    return withRecording(checked, undefined);
  }

  async function once(checked: Checked, write: KeyedWrite): Promise<Forwardable | undefined> {
    const { trail } = checked;
    const begun = await recognize(checked, write);
    switch (begun?.state) {
      case undefined:
        return withRecording(checked, undefined);
      case 'started':
        trail.note('recorded', true);
        return withRecording(checked, recordings.recordingOf(write, checked));
      case 'running':
        throw new GatewayError('idempotency_key_in_use');
      case 'different':
        throw new GatewayError('idempotency_key_reused');
      case 'unknown':
        throw new GatewayError('idempotency_outcome_unknown', { fields: knownOf(begun) });
      case 'done':
        giveAgain(checked, outcomeIn(begun.outcome));
        return undefined;
    }
  }

  return { replay, settled: recordings.settled, close: recordings.close };
}

/** Returns the function that writes the claim of a request, and returns the state of its key in the store. */
function createRecognize(
  { store, honoursKey, machine }: ReplayOptions,
  recordings: Pick<Recordings, 'forgetLater'>,
): (checked: Checked, write: KeyedWrite) => Promise<ClaimResult | undefined> {
  /**
   * Before version 0af7161, the fingerprint of a form included its delimiters. A request of that time is recognized by this older
   * fingerprint, if all its bytes are the same.
   */
  return async function recognize(checked, write) {
    const begun = await begin(checked, write);
    if (begun?.state !== 'different' || delimiterOfForm(checked.headers.get('content-type')) === undefined)
      return begun;
    const fingerprint = fingerprintOf(checked, write.key, undefined);
    return begin(checked, { ...write, claim: { ...write.claim, fingerprint } });
  };

  /**
   * Returns undefined if the store cannot tell whether the request has run before, but the upstream honours the key and prevents a second
   * execution.
   */
  async function begin(checked: Checked, write: ClaimedWrite): Promise<ClaimResult | undefined> {
    const wasUp = store.status().state === 'up';
    const begun = begunBy(write);
    try {
      return await within(STORE_WAIT_MS + (write.claim.replicaWait?.replicasTimeoutMs ?? 0), begun, machine);
    } catch (cause) {
      void forgetUnheard(write, begun, wasUp);
      if (honoursKey(checked.operation.upstream)) return undefined;
      throw new GatewayError('gateway_overloaded', { cause });
    }
  }

  /** Converts a synchronous throw of the store into a rejection. */
  function begunBy({ answerKey, claim }: ClaimedWrite): Awaitable<ClaimResult> {
    try {
      return store.begin(answerKey, claim);
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  /**
   * Frees the key after `begin` has got no answer from the store. The store may have the claim although the request was not sent, and
   * without this call, the outcome would be treated as unknown.
   */
  async function forgetUnheard(write: ClaimedWrite, begun: Awaitable<ClaimResult>, wasUp: boolean): Promise<void> {
    try {
      if ((await begun).state !== 'started') return;
    } catch (error) {
      // A store that was available may have stored the claim. A store that was unavailable has not, except if too few replicas had the
      // claim.
      if (!wasUp && !(error instanceof NotReplicated)) return;
    }
    recordings.forgetLater(write);
  }
}

function withRecording(checked: Checked, recording: Recording | undefined): Forwardable {
  const exchange = extend<Checked, Pick<Forwardable, 'recording'>>(checked);
  exchange.recording = recording;
  return exchange;
}

/**
 * Returns undefined for a request that is not recorded, because a streamed body cannot be compared, and because on public operations the
 * keys of unrelated clients could collide.
 */
function keyedWriteOf(checked: Checked, header: string, options: ReplayOptions): KeyedWrite | undefined {
  const { operation, caller, hasBody, rawBody, headers, id } = checked;
  const { idempotency, upstream } = operation;
  if (idempotency === 'off' || caller.organization === undefined) return undefined;
  const key = parseIdempotencyKey(header);
  if (key === undefined || (hasBody && rawBody === undefined && operation.body === 'stream')) return undefined;
  const leaseMs = options.timeoutMs(operation) + LEASE_MARGIN_MS;
  return {
    key,
    answerKey: { organization: caller.organization.id, mode: caller.mode, digest: digestOf(key) },
    claim: {
      fingerprint: fingerprintOf(checked, key, delimiterOfForm(headers.get('content-type'))),
      owner: id,
      leaseMs,
      retainMs: options.retainSeconds * 1000,
      sentAtMs: options.now(),
      upstream,
      runsAgain: runsAgain(options, upstream),
      replicaWait: options.replicas > 0 ? options : undefined,
    },
    leaseEndsAt: (options.machine ?? REAL_MACHINE).performance.now() + leaseMs,
  };
}

/** Whether a request with an unknown outcome may be sent again. */
function runsAgain({ honoursKey, runsUnknown }: ReplayOptions, upstream: string): boolean {
  return honoursKey(upstream) || runsUnknown(upstream);
}

/** The members of the error object that describe the original request. */
function knownOf({ owner, sentAtMs, upstream }: UnknownOutcome): Record<string, string | undefined> {
  const sentAt = sentAtMs === undefined ? undefined : new Date(sentAtMs).toISOString();
  return { original_request_id: owner, sent_at: sentAt, sent_to: upstream };
}

/** Throws if the outcome is damaged, or was too long to be stored, because the request has run, and must not run again. */
function outcomeIn(stored: Buffer | undefined): Outcome {
  if (stored === undefined) throw new GatewayError('idempotency_result_not_retained');
  try {
    return parseOutcome(stored);
  } catch (cause) {
    throw new GatewayError('idempotency_result_not_retained', { cause });
  }
}

/** Writes the stored answer again, with the request id, date and limits of this exchange. */
function giveAgain({ response, trail, commonHeaders }: Checked, outcome: Outcome): void {
  trail.note('replayed', true);
  const about = { 'Idempotent-Replayed': 'true', 'Original-Request-Id': outcome.requestId };
  if (outcome.kind === 'refusal') {
    const { code, details } = outcome;
    throw new GatewayError(code, { ...details, headers: { ...details.headers, ...about } });
  }
  if (response.destroyed) return;
  const { status, headers, body } = outcome;
  const head = [...commonHeaders, ...headers, ...Object.entries(about).flat()];
  if (status !== 204 && status !== 304) head.push('Content-Length', String(body.length));
  trail.status = status;
  trail.bytesOut = body.length;
  response.writeHead(status, head);
  response.end(body);
}
