// What the end of a sending says about the target that was sent to.

import { type ErrorCode, GatewayError } from '../errors.ts';
import type { Fresh } from '../exchange.ts';

/**
 * How one sending to a target ended, for its health. `answered`: any status below 500, and 501 and 505, which are about the request.
 * `failed`: connection refused, reset or timed out, a protocol error, or 502, 503 and 504, by which a service says that it cannot answer now.
 * `erred`: 500 and the like, a fault that may be of this request alone. `abandoned`: the client left or our side ended it, which says
 * nothing.
 */
export type AttemptOutcome = 'answered' | 'erred' | 'failed' | 'abandoned';

const aboutTheRequest = new Set([501, 505]);
const aboutTheService = new Set([502, 503, 504]);

const failures = new Set<ErrorCode>(['upstream_unreachable', 'upstream_timeout', 'upstream_bad_response']);

/**
 * @param status of the answer, undefined if there was none
 * @param error what the exchange ended with, undefined if the client got the answer
 */
export function outcomeOf(status: number | undefined, error: unknown): AttemptOutcome {
  if (status !== undefined && status >= 400) return outcomeOfStatus(status);
  if (error instanceof GatewayError && failures.has(error.code)) return 'failed';
  return status === undefined ? 'abandoned' : 'answered';
}

function outcomeOfStatus(status: number): AttemptOutcome {
  if (aboutTheService.has(status)) return 'failed';
  return status < 500 || aboutTheRequest.has(status) ? 'answered' : 'erred';
}

/**
 * Whether a sending failed for its client: one who broke off, or who sent or read so slowly that the time ran out. One such client must not
 * make an upstream look broken for all.
 */
export function isClientsDoing(
  { request, response }: Pick<Fresh, 'request' | 'response'>,
  error: GatewayError,
): boolean {
  if (response.destroyed || (request.destroyed && !request.complete)) return true;
  return error.code === 'upstream_timeout' && (!request.complete || response.writableNeedDrain);
}
