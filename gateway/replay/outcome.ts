// Pure: encodes an outcome as bytes: a line of JSON and the unchanged body of an answer.

import { type ErrorCode, GatewayError, type GatewayErrorDetails } from '../catalogue/errors.ts';
import type { RecordedAnswer } from '../exchange/exchange.ts';
import { type JsonNode, printJsonTree, readJson } from '../shared/json-tree.ts';

/** Outcomes that may differ at the next attempt (RFC 9110 sections 15.5.2, 15.5.4, 15.5.9, 15.5.10; RFC 6585 section 4). */
const PASSING_STATUSES = new Set([401, 403, 408, 409, 429]);
/**
 * Headers of an answer that a replay leaves out. The gateway sets the first two itself. A cookie belongs to the client that got the first
 * answer, and a retry may come from another key of the organization. Earlier versions have stored cookies.
 */
const UNSTORED_HEADERS = new Set(['idempotent-replayed', 'original-request-id', 'set-cookie']);

/** The upstream's answer, or the refusal that was made from it. */
export type Outcome =
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
 * Whether the request may have been executed although forwarding threw. After an error answer of the upstream the outcome is known; the
 * catalogue marks the other failures after which the request may have been processed as `if_safe`.
 */
export function mayHaveRun(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return true;
  return error.details.upstreamStatus === undefined && error.entry.retryable === 'if_safe';
}

/** Encodes an answer; undefined if its body was too long. */
export function outcomeOfAnswer(requestId: string, { status, headers, body }: RecordedAnswer): Buffer | undefined {
  if (body === undefined) return undefined;
  return toBytes({ kind: 'answer', requestId, status, headers: replayable(headers) }, body);
}

/**
 * Returns the body to store, in which the members that only its first reader may see are replaced; undefined if the body is no JSON object,
 * so that its contents are unknown. A body whose members are null already, as `once` would make them, has nothing to hide and stays.
 *
 * @param once values in place of members of the object
 */
export function bodyToRepeat(body: Buffer | undefined, once: Readonly<Record<string, unknown>>): Buffer | undefined {
  const root = body && readJson(body);
  if (root?.kind !== 'object') return undefined;
  const isHidden = (name: string) => Object.hasOwn(once, name) && once[name] === null;
  const hidden = root.members.filter(([name]) => isHidden(name));
  if (hidden.length > 0 && hidden.every(([, value]) => value.kind === 'scalar' && value.value === null)) return body;
  const members = root.members.map(([name, value]): [string, JsonNode] => [
    name,
    Object.hasOwn(once, name) ? (readJson(Buffer.from(JSON.stringify(once[name]))) as JsonNode) : value,
  ]);
  return Buffer.from(printJsonTree({ kind: 'object', members }));
}

/**
 * Encodes a refusal that the upstream itself gave, if a retry would get the same refusal. Returns undefined for every other error, which is
 * not stored. The recording then frees the key, or gives up the outcome if the request may have run (`mayHaveRun`).
 */
export function outcomeOfRefusal(requestId: string, error: unknown): Buffer | undefined {
  if (!(error instanceof GatewayError)) return undefined;
  const { cause: _cause, refusedByUpstream: _refused, upstreamStatus: _status, ...details } = error.details;
  const status = details.words?.status;
  if (status === undefined || status >= 500 || PASSING_STATUSES.has(status)) return undefined;
  return toBytes({ kind: 'refusal', requestId, code: error.code, details });
}

export function parseOutcome(bytes: Buffer): Outcome {
  const end = bytes.indexOf(10);
  const outcome: Outcome = {
    ...JSON.parse(bytes.toString('utf8', 0, end)),
    body: bytes.subarray(end + 1),
  };
  if (outcome.kind === 'answer') return { ...outcome, headers: replayable(outcome.headers) };
  return { ...outcome, details: { ...outcome.details, refusedByUpstream: true } };
}

function toBytes(head: object, body: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

function replayable(headers: readonly string[]): string[] {
  return headers.filter((_, index) => !UNSTORED_HEADERS.has((headers[index & ~1] as string).toLowerCase()));
}
