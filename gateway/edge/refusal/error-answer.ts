// Makes the text of an error answer: the error object and its headers. Most refusals have no details. Their texts are cached, because they
// differ only in the request id.

import { type CatalogueEntry, hintSentence } from '../../catalogue/catalogue-entry.ts';
import type { ErrorCode, GatewayError, GatewayErrorDetails, UpstreamWords } from '../../catalogue/errors.ts';
import { violationsMessage } from '../../shared/contracts/violation-text.ts';

export interface ErrorAnswer {
  readonly status: number;
  /** Flat names and values, without the fields of the framing. */
  readonly headers: readonly string[];
  /** The error object, as JSON. */
  readonly text: string;
}

/** @param retryable whether the client may send the identical request again */
export type AnswerOf = (error: GatewayError, retryable: boolean, requestId: string) => ErrorAnswer;

/** An error answer without details, as its text before and after the request id. */
interface PlainAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly before: string;
  readonly after: string;
}

/** @param publicUrl base of `doc_url`; its host is the realm of challenges */
export function createErrorAnswers(publicUrl: string): AnswerOf {
  const realm = new URL(publicUrl).host;
  const retryableAnswers = new Map<ErrorCode, PlainAnswer>();
  const finalAnswers = new Map<ErrorCode, PlainAnswer>();

  function compose(error: GatewayError, retryable: boolean, requestId: string): ErrorAnswer {
    const status = error.details.words?.status ?? error.entry.status;
    const text = error.details.page ?? JSON.stringify(errorObject(error, requestId, retryable, publicUrl));
    return { status, headers: errorHeaders(error, realm), text };
  }

  function plainAnswer(error: GatewayError, retryable: boolean): PlainAnswer {
    const known = retryable ? retryableAnswers : finalAnswers;
    let answer = known.get(error.code);
    if (answer === undefined) {
      const { status, headers, text } = compose(error, retryable, '');
      const [before = '', after = ''] = text.split(/(?<="request_id":)""/);
      answer = { status, headers, before, after };
      known.set(error.code, answer);
    }
    return answer;
  }

  return function answerOf(error, retryable, requestId) {
    if (!isPlain(error)) return compose(error, retryable, requestId);
    const { status, headers, before, after } = plainAnswer(error, retryable);
    return { status, headers, text: before + JSON.stringify(requestId) + after };
  };
}

/**
 * The details that are not part of the answer. If one of them is missing from this list, making the answer takes longer, but its text is
 * the same.
 */
const UNSENT_DETAILS: ReadonlySet<string> = new Set<keyof GatewayErrorDetails>([
  'cause',
  'path',
  'refusedByUpstream',
  'upstreamStatus',
]);

/** Whether no detail changes the answer. */
function isPlain({ details }: GatewayError): boolean {
  for (const name in details) if (!UNSENT_DETAILS.has(name)) return false;
  return true;
}

/** Returns the error object of docs/errors.md. */
function errorObject(error: GatewayError, requestId: string, retryable: boolean, publicUrl: string): object {
  const { words, fields, hint } = error.details;
  const { type, code, message, status } = words ?? ownWords(error);
  const more = hintSentence(error.entry, hint, fields);
  const retryAfter = retryAfterOf(error);
  return {
    error: {
      type,
      code,
      message: more === undefined ? message : `${message} ${more}`,
      status,
      ...fields,
      retryable,
      ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
      request_id: requestId,
      doc_url: `${publicUrl}/docs/errors/${code}`,
    },
  };
}

function ownWords({ code, entry, details: { fields } }: GatewayError): UpstreamWords {
  const violations =
    code === 'validation_failed' ? violationsMessage(fields?.errors, fields?.truncated === true) : undefined;
  return { ...entry, code, message: violations ?? entry.message };
}

function errorHeaders(error: GatewayError, realm: string): string[] {
  const head = [
    'Content-Type',
    error.details.page === undefined ? 'application/json' : 'text/html; charset=utf-8',
    'Cache-Control',
    'no-store',
    'X-Error-Code',
    error.details.words?.code ?? error.code,
  ];
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) head.push('Retry-After', String(retryAfter));
  for (const challenge of challengesOf(error, realm)) head.push('WWW-Authenticate', challenge);
  for (const [name, value] of Object.entries(error.details.headers ?? {})) head.push(name, value);
  return head;
}

function retryAfterOf(error: GatewayError): number | undefined {
  return error.details.retryAfterSeconds ?? error.entry.retryAfterSeconds;
}

/** Returns a line for each challenge, because some clients cannot parse several in one line (RFC 9110 section 11.6.1). */
function challengesOf(error: GatewayError, realm: string): string[] {
  const plain = bearerChallengeOf(error, realm);
  if (plain === undefined) return [];
  const { basic: accepted, challenge } = error.details;
  const bearer = challenge === undefined ? plain : `${plain}, ${challenge}`;
  if (accepted === undefined) return [bearer];
  const basic = `Basic realm="${realm}", charset="UTF-8"`;
  return accepted === 'also' ? [bearer, basic] : [basic];
}

/**
 * Returns the Bearer challenge; undefined if the refusal has none. It has no error code if the request has no usable credential (RFC 6750
 * section 3).
 */
function bearerChallengeOf(error: GatewayError, realm: string): string | undefined {
  const { challenge, message }: CatalogueEntry = error.entry;
  const bare = `Bearer realm="${realm}"`;
  if (challenge === undefined || challenge === 'bare') return challenge && bare;
  if (challenge === 'invalid_token')
    return `${bare}, error="invalid_token", error_description="${message.replaceAll('"', "'")}"`;
  const scopes = error.details.fields?.required_scopes;
  return `${bare}, error="insufficient_scope", scope="${Array.isArray(scopes) ? scopes.join(' ') : ''}"`;
}
