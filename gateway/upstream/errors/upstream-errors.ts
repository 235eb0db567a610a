// Turns an answer with a status of 400 or above into the refusal for the client. The status decides the code, and from 500 on everything:
// the table SERVER_ERRORS. For a 4xx other than 401, 407 and 429, the code, the message and the fields that the gateway recognises in the
// body replace those of the gateway. The client gets nothing else of the body, such as a page of HTML.

import type { ErrorType } from '../../catalogue/catalogue-entry.ts';
import { type ErrorCode, GatewayError, REFUSALS, type UpstreamWords } from '../../catalogue/errors.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { AnswerHeaders, Control } from '../../http1/client/wire.ts';
import { credentialToAdd } from '../../shared/contracts/upstreams.ts';
import { WITHOUT_CREDENTIAL } from '../../shared/failed-requests.ts';
import { isLoginRefusal } from '../../shared/http/words.ts';
import { shortTextOf, visibleLine } from '../../shared/text.ts';
import { codingOf, decodeBody } from '../encoding/decode.ts';
import { firstValueOf } from '../headers/answer-headers.ts';
import { CollectedBody } from '../relay/collected-body.ts';
import type { UpstreamRoute } from '../routes.ts';
import { type ErrorForm, type ParsedError, parseDialect } from './error-dialects.ts';
import type { DefaultPlace } from './field-errors.ts';
import { secretsIn, withoutSecrets } from './submitted-secrets.ts';

interface ServerError {
  readonly code: ErrorCode;
  /** What the answer says about the health of its target (upstream/targets/attempt-end.ts). */
  readonly end: 'answered' | 'erred' | 'failed';
  /** Whether the request is sent again, if that is safe and paid for (upstream/attempts/retry-plan.ts). */
  readonly isRetried: boolean;
}

/** What each status from 500 on means. 501 and 505 concern the request, not the service. */
const SERVER_ERRORS: Readonly<Record<number, ServerError>> = {
  500: { code: 'upstream_error', end: 'erred', isRetried: false },
  501: { code: 'upstream_error', end: 'answered', isRetried: false },
  502: { code: 'upstream_bad_response', end: 'failed', isRetried: true },
  503: { code: 'upstream_unavailable', end: 'failed', isRetried: true },
  504: { code: 'upstream_timeout', end: 'failed', isRetried: true },
  505: { code: 'upstream_bad_response', end: 'answered', isRetried: false },
};
const OTHER_SERVER_ERROR: ServerError = { code: 'upstream_bad_response', end: 'erred', isRetried: false };

/** @param status 500 or above */
export function serverErrorOf(status: number): ServerError {
  return SERVER_ERRORS[status] ?? OTHER_SERVER_ERROR;
}

/** The codes of other statuses, for a body that is not recognised. */
const byStatus: Readonly<Record<number, ErrorCode>> = {
  404: 'resource_missing',
  412: 'precondition_failed',
  428: 'precondition_required',
};

/** Longer error bodies are not read: error objects are small. */
const ERROR_BODY_BYTES_MAX = 65_536;
const TYPE_LENGTH_MAX = 80;

/** The parts of the client's request on which the refusal depends. */
type Refused = Pick<Forwardable, 'method' | 'rawBody' | 'headers' | 'operation' | 'caller'>;

/** The attempt that has got the error: a Relay. */
interface AnsweredAttempt {
  readonly exchange: Forwardable;
  readonly route: Pick<UpstreamRoute, 'credential'>;
  fail(error: GatewayError, failure: 'status'): void;
}

/**
 * Reads the body of an error to its end, so that the connection can be used again, but stops if the body is too long. Then it fails the
 * attempt with the refusal for the client.
 */
export class ErrorBody {
  readonly #read: CollectedBody;
  readonly #status: number;
  readonly #headers: AnswerHeaders;
  readonly #attempt: AnsweredAttempt;

  /** @param read collects the body if it is read to its end for the rules; `data` is then not called */
  constructor(
    status: number,
    headers: AnswerHeaders,
    attempt: AnsweredAttempt,
    read = new CollectedBody(ERROR_BODY_BYTES_MAX),
  ) {
    this.#status = status;
    this.#headers = headers;
    this.#attempt = attempt;
    this.#read = read;
  }

  data(_control: Control, chunk: Buffer): void {
    if (!this.#read.add(chunk)) this.end();
  }

  /** Whether the refusal depends on the status alone. */
  get isDecidedByStatus(): boolean {
    return this.#status >= 500;
  }

  /**
   * Fails the attempt with the refusal that is made from the status, and from the body as far as it has arrived.
   *
   * @param headers of the answer, which rules may have changed
   * @param body of the answer, which rules may have changed
   */
  end(headers = this.#headers, body = this.#read.whole()): void {
    const { exchange, route } = this.#attempt;
    const isLong = body.length > ERROR_BODY_BYTES_MAX;
    // The log gets the media type and the length. They tell the operator where the error came from: a page of HTML often comes from a proxy
    // in front of the service.
    if (this.isDecidedByStatus || !isJson(headers))
      exchange.trail.note('upstreamBody', bodyShape(headers, isLong ? undefined : body.length));
    const parsed = isLong ? Buffer.alloc(0) : body;
    const loginFault = withoutCredential(route, exchange.operation);
    this.#attempt.fail(toUpstreamRefusal(this.#status, headers, parsed, exchange, loginFault), 'status');
  }
}

/** @param length undefined if the body is too long */
function bodyShape(headers: AnswerHeaders, length: number | undefined): string {
  const type = firstValueOf(headers['content-type']);
  const shown = type === undefined ? 'without a media type' : visibleLine(shortTextOf(type, TYPE_LENGTH_MAX));
  return `${shown}, ${length ?? `more than ${ERROR_BODY_BYTES_MAX}`} bytes`;
}

/** Returns the cause for the log if an upstream refuses the login and its entry has no credential; undefined if the entry has one. */
export function withoutCredential(
  { credential }: Pick<UpstreamRoute, 'credential'>,
  { entry }: Pick<Operation, 'entry'>,
): Error | undefined {
  return credential === undefined ? new Error(`${WITHOUT_CREDENTIAL}: add ${credentialToAdd(entry)}`) : undefined;
}

/**
 * Returns the refusal for the client. If the body is not recognised, the message of the refusal is the one of the catalogue.
 *
 * @param refused the request of the client; undefined if the gateway itself sent a GET
 * @param loginFault the cause of a refused login, if it is known
 */
export function toUpstreamRefusal(
  status: number,
  headers: AnswerHeaders,
  body: Buffer,
  refused: Refused | undefined,
  loginFault?: Error,
): GatewayError {
  if (status === 401 && refused?.operation.forwardsToken === true && refused.caller.issuer !== undefined)
    return tokenRefusal();
  const answered = { upstreamStatus: status, ...crossing(status, headers) };
  if (isLoginRefusal(status)) return new GatewayError('upstream_auth_failed', { ...answered, cause: loginFault });
  if (status === 429) return new GatewayError('upstream_overloaded', { ...answered, ...retryAfter(headers) });
  if (status === 501) return new GatewayError('upstream_error', { ...answered, words: notImplemented() });
  if (status >= 500)
    return new GatewayError(serverErrorOf(status).code, { ...answered, ...(status === 503 && retryAfter(headers)) });
  const parsed = parsedFor(refused, headers, body);
  const code = byStatus[status] ?? 'upstream_rejected';
  return new GatewayError(code, {
    ...answered,
    words: {
      status,
      type: parsed?.type ?? typeOf(status),
      code: parsed?.code ?? code,
      message: parsed?.message ?? REFUSALS[code].message,
    },
    ...(parsed?.fields ? { fields: parsed.fields } : {}),
  });
}

/** Returns the refusal for a token of the client that the service refuses. */
function tokenRefusal(): GatewayError {
  const { type, message } = REFUSALS.token_invalid;
  return new GatewayError('token_invalid', {
    upstreamStatus: 401,
    // With `words`, the refusal counts as one of the upstream, so it does not count against the address of the client
    // (limits/addresses/throttle.ts).
    words: { status: 401, type, code: 'token_invalid', message },
  });
}

/** Returns the recognised parts of an error body, without those that repeat a secret of the request. */
function parsedFor(refused: Refused | undefined, headers: AnswerHeaders, body: Buffer): ParsedError | undefined {
  const decoded = decodeBody(body, codingOf(headers), ERROR_BODY_BYTES_MAX);
  if (typeof decoded === 'string') return undefined;
  const hasBody = refused !== undefined && refused.method !== 'GET' && refused.method !== 'HEAD';
  const parsed = parseError(headers, decoded, hasBody ? 'body' : 'query');
  return parsed && withoutSecrets(parsed, secretsIn(refused?.rawBody, refused?.headers.get('content-type')));
}

/**
 * Returns the header fields that a client needs: `Preference-Applied` (RFC 7240 section 3), and `Content-Range` of a 416. `Content-Range`
 * has the length of the file, which tells a client that resumes a download that it already has everything (RFC 9110 section 15.5.17).
 */
function crossing(status: number, headers: AnswerHeaders): { headers?: Readonly<Record<string, string>> } {
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

function notImplemented(): UpstreamWords {
  const { type, message } = REFUSALS.upstream_error;
  return { status: 501, type, code: 'upstream_error', message };
}

/**
 * Reads Retry-After: seconds, or a date in one of the three forms of RFC 9110 section 5.6.7. Seconds are matched first, because Date.parse
 * would read a number as a date.
 */
function retryAfter(headers: AnswerHeaders): { retryAfterSeconds?: number } {
  const text = headers['retry-after'];
  if (typeof text !== 'string') return {};
  if (/^\d{1,6}$/.test(text)) return { retryAfterSeconds: Math.max(1, Number(text)) };
  const seconds = /^[A-Z][a-z]+,? /.test(text) ? Math.ceil((Date.parse(text) - Date.now()) / 1000) : Number.NaN;
  return Number.isFinite(seconds) ? { retryAfterSeconds: Math.max(1, seconds) } : {};
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

/** Returns the form of an error body; undefined if nothing is recognised. */
export function errorFormOf(headers: AnswerHeaders, body: Buffer): ErrorForm | undefined {
  const parsed = parseError(headers, body, 'body');
  return parsed?.code === undefined && parsed?.message === undefined ? undefined : parsed.form;
}

function isJson(headers: AnswerHeaders): boolean {
  return /\bjson\b/.test(String(headers['content-type'] ?? ''));
}

function parseError(headers: AnswerHeaders, body: Buffer, place: DefaultPlace): ParsedError | undefined {
  if (!isJson(headers)) return undefined;
  const mediaType = String(headers['content-type'] ?? '');
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
  return parseDialect(value, /problem\+json/.test(mediaType), place);
}
