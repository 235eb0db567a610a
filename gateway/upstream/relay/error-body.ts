// The body of an answer with a status of 400 or above, as far as it has arrived, and the refusal that the client gets instead of it.

import type { GatewayError } from '../../catalogue/errors.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { shortTextOf, visibleLine } from '../../shared/text.ts';
import { ERROR_BODY_BYTES_MAX, hasJsonType } from '../errors/parse-error-body.ts';
import { isServerError, missingCredentialCause, toUpstreamRefusal } from '../errors/upstream-errors.ts';
import { firstValueOf } from '../headers/answer-headers.ts';
import type { UpstreamRoute } from '../routes.ts';
import { CollectedBody } from './collected-body.ts';

const TYPE_LENGTH_MAX = 80;

export class ErrorBody {
  readonly status: number;
  readonly #headers: AnswerHeaders;
  readonly #read: CollectedBody;

  /** @param read collects the body if it is read to its end for the rules; `add` is then not called */
  constructor(status: number, headers: AnswerHeaders, read = new CollectedBody(ERROR_BODY_BYTES_MAX)) {
    this.status = status;
    this.#headers = headers;
    this.#read = read;
  }

  /** Adds a chunk. Returns false if the body has become too long to be read to its end. */
  add(chunk: Buffer): boolean {
    return this.#read.add(chunk);
  }

  /**
   * Returns the refusal, which is made from the status, and from the body as far as it has arrived. Notes in the trail what the body was.
   *
   * @param headers of the answer, which rules may have changed
   * @param body of the answer, which rules may have changed
   */
  refusal(
    exchange: Forwardable,
    route: UpstreamRoute,
    headers = this.#headers,
    body = this.#read.whole(),
  ): GatewayError {
    const isLong = body.length > ERROR_BODY_BYTES_MAX;
    // The log gets the media type and the length, which tell the operator where the error came from. A page of HTML often comes from a
    // proxy in front of the service.
    if (isServerError(this.status) || !hasJsonType(headers))
      exchange.trail.note('upstreamBody', bodyShape(headers, isLong ? undefined : body.length));
    const parsed = isLong ? Buffer.alloc(0) : body;
    return toUpstreamRefusal(this.status, headers, parsed, exchange, missingCredentialCause(route, exchange.operation));
  }
}

/** @param length undefined if the body is too long */
function bodyShape(headers: AnswerHeaders, length: number | undefined): string {
  const type = firstValueOf(headers['content-type']);
  const shown = type === undefined ? 'without a media type' : visibleLine(shortTextOf(type, TYPE_LENGTH_MAX));
  return `${shown}, ${length ?? `more than ${ERROR_BODY_BYTES_MAX}`} bytes`;
}
