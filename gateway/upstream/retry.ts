// Pure: whether a sending that failed may be repeated, and how long to wait first. The reasoning is in docs/decisions/0012-retries.md.

import { isIdempotent } from '../errors.ts';
import type { Checked, Fresh, RetryReason } from '../exchange.ts';

/**
 * How a sending failed: `lost` with its connection, `timeout` of one attempt, a `status` of the upstream, or anything else, which no
 * repetition makes better.
 */
export type AttemptFailure = 'lost' | 'timeout' | 'status' | 'other';

/** The longest that a Retry-After is waited for; with more, the client does the waiting. */
const RETRY_AFTER_MAX_MS = 2_000;
const BACK_OFF_MS = 50;

const repeatedStatuses = new Set([502, 503, 504]);

/**
 * Undefined: the failure is the answer.
 *
 * @param wasSent whether a byte of the request may have left
 * @param status of the upstream's answer, 0 without one
 */
export function retryReasonOf(failure: AttemptFailure, wasSent: boolean, status: number): RetryReason | undefined {
  if (failure === 'other') return undefined;
  if (!wasSent) return 'not_sent';
  if (failure === 'lost') return 'connection_lost';
  if (failure === 'timeout') return 'timeout';
  return repeatedStatuses.has(status) ? (`status_${status}` as RetryReason) : undefined;
}

/**
 * Whether sending once more can do no harm: the client has seen nothing, and nothing left the gateway, or the operation is idempotent by
 * its method or by its key. A body that streams is gone once a byte of it was sent.
 */
export function isRepeatable(fresh: Fresh, wasSent: boolean, honoursIdempotencyKey: boolean): boolean {
  const { operation, request, response, headers } = fresh;
  if (response.headersSent || response.destroyed) return false;
  if (!wasSent) return !isStreamed(fresh) || !request.readableDidRead;
  if (isStreamed(fresh)) return false;
  if (isIdempotent(operation.method)) return true;
  return honoursIdempotencyKey && operation.idempotency !== 'off' && headers.has('idempotency-key');
}

/**
 * Milliseconds until a target that has failed is tried again; undefined: not worth the wait.
 *
 * @param repeats how often this request was sent again already
 * @param retryAfterSeconds what the upstream asked for
 */
export function backOffMs(repeats: number, retryAfterSeconds: number | undefined): number | undefined {
  if (retryAfterSeconds === undefined) return BACK_OFF_MS * 2 ** repeats * (0.5 + Math.random() / 2);
  return retryAfterSeconds * 1000 <= RETRY_AFTER_MAX_MS ? retryAfterSeconds * 1000 : undefined;
}

/** Whether its body passes chunk by chunk, so that there is nothing to send a second time. */
export function isStreamed({ hasBody, rawBody, operation }: Checked): boolean {
  return hasBody && rawBody === undefined && operation.body === 'stream';
}
