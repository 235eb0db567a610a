// Stage: has this write been sent before? Throws idempotency_key_in_use, idempotency_key_reused, idempotency_result_not_retained,
// gateway_overloaded, and once more what the upstream refused the first time with.

import { GatewayError } from '../errors.ts';
import type { Awaitable, Checked, Fresh } from '../exchange.ts';
import { digestOf, fingerprintOf } from './fingerprint.ts';
import { type Outcome, parseRecord } from './record.ts';
import { type Attempt, createRecordings, STORE_WAIT_MS } from './recording.ts';
import type { AnswerStore, Begun, Slot } from './store.ts';
import { within } from './within.ts';

/** On top of an upstream's deadline: what an exchange takes before and after it, and how far two instances may differ in speed. */
export const LEASE_MARGIN_MS = 5_000;

export interface ReplayOptions {
  readonly store: AnswerStore;
  /** The text of a well-formed Idempotency-Key, quoted or bare. */
  keyOf(header: string): string | undefined;
  timeoutMs(upstream: string): number;
  /** Whether the upstream itself guarantees that a repeated key runs once. */
  honoursKey(upstream: string): boolean;
  readonly retainSeconds: number;
  /** Longer answers are not kept. */
  readonly answerBytesMax: number;
  /** What one organization may have stored; see retention.ts. */
  readonly organizationBytesMax: number;
  /** Headers of every answer, flat. */
  readonly alwaysCarried: readonly string[];
}

export interface Replay {
  /** Synchronous where there is nothing to remember. */
  replay(checked: Checked): Awaitable<Fresh | undefined>;
  /** Resolves when everything under way is stored, or its lease has ended. */
  settled(): Promise<void>;
  /** Resolves when everything under way is stored or given up. The store stays the caller's. */
  close(): Promise<void>;
}

export function createReplay(options: ReplayOptions): Replay {
  const { store, alwaysCarried } = options;
  const recordings = createRecordings({
    store,
    retention: { retainMs: options.retainSeconds * 1000, organizationBytesMax: options.organizationBytesMax },
    bodyBytesMax: options.answerBytesMax,
  });

  function replay(checked: Checked): Awaitable<Fresh | undefined> {
    const attempt = attemptOf(checked, options);
    return attempt === undefined ? { ...checked, recording: undefined } : once(checked, attempt);
  }

  async function once(checked: Checked, attempt: Attempt): Promise<Fresh | undefined> {
    const begun = await begin(checked, attempt);
    switch (begun?.state) {
      case undefined:
        return { ...checked, recording: undefined };
      case 'started':
        checked.trail.recorded = true;
        return { ...checked, recording: recordings.recordingOf(attempt) };
      case 'running':
        throw new GatewayError('idempotency_key_in_use');
      case 'different':
        throw new GatewayError('idempotency_key_reused');
      case 'done':
        if (begun.record === undefined) throw new GatewayError('idempotency_result_not_retained');
        checked.trail.replayed = true;
        giveAgain(checked, parseRecord(begun.record), alwaysCarried);
        return undefined;
    }
  }

  /** Undefined: nobody knows whether the request has run before, and the upstream will see to it that it does not run twice. */
  async function begin(checked: Checked, { slot, fingerprint, owner, leaseMs }: Attempt): Promise<Begun | undefined> {
    try {
      return await within(STORE_WAIT_MS, store.begin(slot, fingerprint, owner, leaseMs));
    } catch (cause) {
      void forgetUnheard(slot, owner);
      if (options.honoursKey(checked.operation.upstream)) return undefined;
      throw new GatewayError('gateway_overloaded', { cause });
    }
  }

  /** It may have begun there without our hearing of it, and would hold the client's next attempt up. */
  async function forgetUnheard(slot: Slot, owner: string): Promise<void> {
    try {
      await store.forget(slot, owner);
    } catch {
      // Then the lease ends it.
    }
  }

  return { replay, settled: recordings.settled, close: recordings.close };
}

/** Undefined: not to be remembered. A body that streams cannot be compared, and on public operations keys of strangers would meet. */
function attemptOf(checked: Checked, options: ReplayOptions): Attempt | undefined {
  const { headers, operation, caller, hasBody, id } = checked;
  const header = headers.get('idempotency-key');
  if (header === undefined || operation.idempotency === 'off' || caller.organization === undefined) return undefined;
  const key = options.keyOf(header);
  if (key === undefined || (hasBody && operation.body === 'stream')) return undefined;
  const slot = { organization: caller.organization.id, mode: caller.mode, digest: digestOf(key) };
  const leaseMs = options.timeoutMs(operation.upstream) + LEASE_MARGIN_MS;
  return { slot, fingerprint: fingerprintOf(checked, key), owner: id, leaseMs };
}

/** As the first time, but for what belongs to this exchange: request id, date, limits. */
function giveAgain({ response, trail, carried }: Checked, outcome: Outcome, alwaysCarried: readonly string[]): void {
  const about = { 'Idempotent-Replayed': 'true', 'Original-Request-Id': outcome.requestId };
  if (outcome.kind === 'refusal') {
    const { code, details } = outcome;
    throw new GatewayError(code, { ...details, headers: { ...details.headers, ...about } });
  }
  if (response.destroyed) return;
  const { status, headers, body } = outcome;
  const head = [...alwaysCarried, ...carried, ...headers, ...Object.entries(about).flat()];
  if (status !== 204 && status !== 304) head.push('Content-Length', String(body.length));
  trail.status = status;
  trail.bytesOut = body.length;
  response.writeHead(status, head);
  response.end(body);
}
