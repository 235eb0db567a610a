// Pure: decides whether a failed attempt may be repeated, and after which wait. Reasons: docs/decisions/0012-retries.md.

import type { Checked, Forwardable } from '../../exchange.ts';
import type { RetryReason } from '../../findings.ts';
import { isIdempotent } from '../../shared/methods.ts';

/**
 * How an attempt failed: `lost` with its connection, `timeout` of the attempt, a `status` of the upstream, or `other`, which is never
 * retried.
 */
export type AttemptFailure = 'lost' | 'timeout' | 'status' | 'other';

/** Longest Retry-After for which the gateway waits. If it is longer, the client has to wait. */
const RETRY_AFTER_MAX_MS = 2_000;
const BACK_OFF_MS = 50;

const repeatedStatuses = new Set([502, 503, 504]);

/**
 * Returns why the request may be sent again; undefined if the failure is the answer.
 *
 * @param wasSent whether a byte of the request may have been sent
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
 * True if a retry is safe: the client has received nothing, and either nothing was sent or the operation is idempotent by its method or its
 * key. A streamed body cannot be repeated after its first byte was sent.
 */
export function isRepeatable(exchange: Forwardable, wasSent: boolean, honoursIdempotencyKey: boolean): boolean {
  const { operation, request, response, headers } = exchange;
  if (response.headersSent || response.destroyed) return false;
  if (!wasSent) return !isStreamed(exchange) || !request.readableDidRead;
  if (isStreamed(exchange)) return false;
  if (isIdempotent(operation.method)) return true;
  return honoursIdempotencyKey && operation.idempotency !== 'off' && headers.has('idempotency-key');
}

/**
 * Returns the milliseconds before a failed target is tried again; undefined if the wait would be too long.
 *
 * @param repeats retries of this request so far
 * @param retryAfterSeconds Retry-After of the answer, if any
 */
export function backOffMs(repeats: number, retryAfterSeconds: number | undefined): number | undefined {
  if (retryAfterSeconds === undefined) return BACK_OFF_MS * 2 ** repeats * (0.5 + Math.random() / 2);
  return retryAfterSeconds * 1000 <= RETRY_AFTER_MAX_MS ? retryAfterSeconds * 1000 : undefined;
}

/** True if the body is streamed, so that no copy is available for a second attempt. */
export function isStreamed({ hasBody, rawBody, operation }: Checked): boolean {
  return hasBody && rawBody === undefined && operation.body === 'stream';
}
