// The result of an attempt, by which the health of its target is judged.

import { type ErrorCode, GatewayError } from '../../catalogue/errors.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import { serverErrorOf } from '../errors/upstream-errors.ts';

/**
 * How one attempt ended, for the health of its target. The last columns say what the circuit breaker (breaker.ts) and the ejection of
 * the target (outlier-detection.ts) count. The breaker makes an exception: it does not count an `unreached` attempt that took little time.
 *
 *   answered    a status below 500; 501 and 505, which concern the request               success   success
 *   unreached   no connection could be made, so nothing was sent                         failure   failure
 *   failed      the connection was reset or timed out; a protocol error; 502, 503, 504   failure   failure
 *   erred       500, or another status that may concern this request alone               success   failure
 *   abandoned   the client left, or the gateway ended the attempt                        nothing   nothing
 */
export type AttemptResult = 'answered' | 'erred' | 'unreached' | 'failed' | 'abandoned';

const FAILURE_CODES = new Set<ErrorCode>(['upstream_timeout', 'upstream_bad_response']);

/**
 * Returns how an attempt ended.
 *
 * @param status of the answer, undefined if no answer came
 * @param error the error that ended the exchange, undefined if the client got the answer
 */
export function attemptResultOf(status: number | undefined, error: unknown): AttemptResult {
  if (status !== undefined && status >= 400) return status < 500 ? 'answered' : serverErrorOf(status).result;
  if (error instanceof GatewayError) {
    if (error.code === 'upstream_unreachable') return 'unreached';
    if (FAILURE_CODES.has(error.code)) return 'failed';
  }
  return status === undefined ? 'abandoned' : 'answered';
}

/**
 * Whether the client caused the failure of an attempt, because it disconnected, or sent or read so slowly that the deadline passed. Such a
 * failure must not count against the target.
 */
export function isClientFault(
  { request, response }: Pick<Forwardable, 'request' | 'response'>,
  error: GatewayError,
): boolean {
  if (response.destroyed || (request.destroyed && !request.complete)) return true;
  return error.code === 'upstream_timeout' && (!request.complete || response.writableNeedDrain);
}
