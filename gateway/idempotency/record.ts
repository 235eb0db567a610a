// What is kept of an outcome, as bytes: a line of JSON, then the body of an answer as it came. Pure.

import { type ErrorCode, GatewayError, type GatewayErrorDetails } from '../errors.ts';
import type { RecordedAnswer } from '../exchange.ts';

/** Outcomes that may be another one the next time (RFC 9110 sections 15.5.2, 15.5.4, 15.5.9, 15.5.10; RFC 6585 section 4). */
const passing = new Set([401, 403, 408, 409, 429]);
/** A replay says these two about itself, whatever the upstream said about its own. */
const ownHeaders = new Set(['idempotent-replayed', 'original-request-id']);

/** The upstream's answer, or its refusal once that was understood. */
export type RecordedOutcome =
  | {
      readonly kind: 'answer';
      readonly requestId: string;
      readonly status: number;
      readonly headers: readonly string[];
      readonly body: Buffer;
    }
  | {
      readonly kind: 'refusal';
      readonly requestId: string;
      readonly code: ErrorCode;
      readonly details: GatewayErrorDetails;
    };

/**
 * Whether what forwarding threw leaves open that the request was executed. An upstream that answered with an error has said what became of
 * it; the catalogue marks the other failures after which the request may have been processed as `if_safe`.
 */
export function mayHaveRun(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return true;
  return error.details.upstreamStatus === undefined && error.refusal.retryable === 'if_safe';
}

/** The bytes of an answer; undefined when its body was too long. */
export function recordOf(requestId: string, { status, headers, body }: RecordedAnswer): Buffer | undefined {
  if (body === undefined) return undefined;
  return toBytes({ kind: 'answer', requestId, status, headers: withoutOwn(headers) }, body);
}

/**
 * The bytes of what forwarding threw, if it is the upstream's own word and would be the same the next time. Undefined for everything
 * whose outcome nobody knows: failures of the upstream, of the way to it and of the gateway.
 */
export function recordOfRefusal(requestId: string, error: unknown): Buffer | undefined {
  if (!(error instanceof GatewayError)) return undefined;
  const { cause: _cause, upstreamStatus: _status, ...details } = error.details;
  const status = details.words?.status;
  if (status === undefined || status >= 500 || passing.has(status)) return undefined;
  return toBytes({ kind: 'refusal', requestId, code: error.code, details });
}

export function parseOutcome(record: Buffer): RecordedOutcome {
  const end = record.indexOf(10);
  return { ...JSON.parse(record.toString('utf8', 0, end)), body: record.subarray(end + 1) };
}

function toBytes(head: object, body: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

function withoutOwn(headers: readonly string[]): string[] {
  return headers.filter((_, index) => !ownHeaders.has((headers[index & ~1] as string).toLowerCase()));
}
