// Chooses the refusal for an answer of the upstream with a status of 400 or above:
//
//   5xx             the status decides, by the table SERVER_ERRORS
//   401, 407, 429   the status decides; for a 401, also whether the request passed on the token of the client
//   other 4xx       a code, a message and fields in the body decide, if the gateway recognises them; otherwise the status
//
// The client gets nothing else of the body, such as a page of HTML.

import type { ErrorType } from '../../catalogue/catalogue-entry.ts';
import { type ErrorCode, GatewayError, REFUSALS, type UpstreamWords } from '../../catalogue/errors.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { credentialToAdd } from '../../shared/contracts/upstreams.ts';
import { WITHOUT_CREDENTIAL } from '../../shared/failed-requests.ts';
import { isLoginRefusal } from '../../shared/http/words.ts';
import type { Credential } from '../credentials/credential.ts';
import { parsedErrorFor } from './parse-error-body.ts';

interface ServerError {
  readonly code: ErrorCode;
  /** What the answer says about the health of its target (upstream/targets/attempt-result.ts). */
  readonly result: 'answered' | 'erred' | 'failed';
  /** Whether the request is retried, if a retry is safe and paid for (upstream/attempts/retry-plan.ts). */
  readonly isRetried: boolean;
}

/** The meaning of statuses from 500 on. 501 and 505 concern the request, not the service. */
const SERVER_ERRORS: Readonly<Record<number, ServerError>> = {
  500: { code: 'upstream_error', result: 'erred', isRetried: false },
  501: { code: 'upstream_error', result: 'answered', isRetried: false },
  502: { code: 'upstream_bad_response', result: 'failed', isRetried: true },
  503: { code: 'upstream_unavailable', result: 'failed', isRetried: true },
  504: { code: 'upstream_timeout', result: 'failed', isRetried: true },
  505: { code: 'upstream_bad_response', result: 'answered', isRetried: false },
};
/** The meaning of all other statuses from 500 on. */
const OTHER_SERVER_ERROR: ServerError = { code: 'upstream_bad_response', result: 'erred', isRetried: false };

/** Whether the status blames the server, so that the refusal depends on the status alone. */
export function isServerError(status: number): boolean {
  return status >= 500;
}

/** @param status 500 or above */
export function serverErrorOf(status: number): ServerError {
  return SERVER_ERRORS[status] ?? OTHER_SERVER_ERROR;
}

/** The codes of other statuses, for a body that is not recognised. */
const CODES_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  404: 'resource_missing',
  412: 'precondition_failed',
  428: 'precondition_required',
};

/** The parts of the client's request on which the refusal depends. */
type RefusedRequest = Pick<Forwardable, 'method' | 'rawBody' | 'headers' | 'operation' | 'caller'>;

/** Returns the cause for the log if an upstream refuses the login and its entry has no credential; undefined if the entry has one. */
export function missingCredentialCause(
  { credential }: { readonly credential: Credential | undefined },
  { entry }: Pick<Operation, 'entry'>,
): Error | undefined {
  return credential === undefined ? new Error(`${WITHOUT_CREDENTIAL}: add ${credentialToAdd(entry)}`) : undefined;
}

/**
 * Returns the refusal for the client. If the body is not recognised, the message comes from the catalogue.
 *
 * @param refused the request of the client; undefined if the gateway itself sent a GET
 * @param loginFault the cause of a refused login, if it is known
 */
export function toUpstreamRefusal(
  status: number,
  headers: AnswerHeaders,
  body: Buffer,
  refused: RefusedRequest | undefined,
  loginFault?: Error,
): GatewayError {
  if (status === 401 && refused?.operation.forwardsToken === true && refused.caller.issuer !== undefined)
    return new GatewayError('token_invalid', { upstreamStatus: 401, refusedByUpstream: true });
  const answered = { upstreamStatus: status, ...keptHeaders(status, headers) };
  if (isLoginRefusal(status)) return new GatewayError('upstream_auth_failed', { ...answered, cause: loginFault });
  if (status === 429) return new GatewayError('upstream_overloaded', { ...answered, ...retryAfter(headers) });
  if (isServerError(status))
    return new GatewayError(serverErrorOf(status).code, {
      ...answered,
      ...(status === 501 && { words: notImplemented() }),
      ...(status === 503 && retryAfter(headers)),
    });
  const parsed = parsedErrorFor(refused, headers, body);
  const code = CODES_BY_STATUS[status] ?? 'upstream_rejected';
  return new GatewayError(code, {
    ...answered,
    refusedByUpstream: true,
    words: {
      status,
      type: parsed?.type ?? typeOf(status),
      code: parsed?.code ?? code,
      message: parsed?.message ?? REFUSALS[code].message,
    },
    ...(parsed?.fields ? { fields: parsed.fields } : {}),
  });
}

/** Returns the words that keep the status 501, because the client has to change its request. */
function notImplemented(): UpstreamWords {
  const { type, message } = REFUSALS.upstream_error;
  return { status: 501, type, code: 'upstream_error', message };
}

/** Returns the error type for a status of an upstream. */
export function typeOf(status: number): ErrorType {
  if (status >= 500) return 'api_error';
  if (status === 429) return 'rate_limit_error';
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 404 || status === 410) return 'not_found_error';
  if (status === 409 || status === 412) return 'conflict_error';
  return 'invalid_request_error';
}

/**
 * Returns the header fields that a client needs: `Preference-Applied` (RFC 7240 section 3), and `Content-Range` of a 416. `Content-Range`
 * states the length of the file, by which a client that resumes a download knows that it already has everything (RFC 9110 section 15.5.17).
 */
function keptHeaders(status: number, headers: AnswerHeaders): { headers?: Readonly<Record<string, string>> } {
  const { 'preference-applied': preference, 'content-range': range } = headers;
  const isLength = status === 416 && typeof range === 'string' && /^[\w-]{1,32} \*\/\d{1,18}$/.test(range);
  if (typeof preference !== 'string' && !isLength) return {};
  return {
    headers: {
      ...(typeof preference === 'string' ? { 'Preference-Applied': preference } : {}),
      ...(isLength ? { 'Content-Range': range } : {}),
    },
  };
}

/**
 * Reads Retry-After, which is a number of seconds, or a date in one of the three forms of RFC 9110 section 5.6.7. Seconds are matched
 * first, because Date.parse would read a number as a date.
 */
function retryAfter(headers: AnswerHeaders): { retryAfterSeconds?: number } {
  const text = headers['retry-after'];
  if (typeof text !== 'string') return {};
  if (/^\d{1,6}$/.test(text)) return { retryAfterSeconds: Math.max(1, Number(text)) };
  const seconds = /^[A-Z][a-z]+,? /.test(text) ? Math.ceil((Date.parse(text) - Date.now()) / 1000) : Number.NaN;
  return Number.isFinite(seconds) ? { retryAfterSeconds: Math.max(1, seconds) } : {};
}
