// The body of an answer with a status of 400 or above, as far as it has arrived, and the refusal that the client gets instead of it.

import type { GatewayError } from '../../catalogue/errors.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { shortTextOf, visibleLine } from '../../shared/text.ts';
import { ERROR_BODY_BYTES_MAX, hasJsonType } from '../errors/parse-error-body.ts';
import { isServerError, missingCredentialCause, toUpstreamRefusal } from '../errors/upstream-errors.ts';
import { firstValueOf } from '../headers/answer-headers.ts';
import { CollectedBody } from './collected-body.ts';
import type { Received, Receiver } from './receiver.ts';
import type { RelayOwner } from './relay-owner.ts';

const TYPE_LENGTH_MAX = 80;

export class ErrorBody implements Receiver {
  readonly status: number;
  readonly #owner: RelayOwner;
  readonly #headers: AnswerHeaders;
  readonly #read: CollectedBody;

  /** @param read collects the body if it is read to its end for the judge; `data` is then not called */
  constructor(owner: RelayOwner, status: number, headers: AnswerHeaders, read?: CollectedBody) {
    this.#owner = owner;
    this.status = status;
    this.#headers = headers;
    this.#read = read ?? new CollectedBody(ERROR_BODY_BYTES_MAX);
  }

  /** Returns the refusal as soon as the body has become too long to be read to its end. */
  data(chunk: Buffer): Received {
    return this.#read.add(chunk) ? undefined : this.end();
  }

  /**
   * Returns the refusal, which is made from the status, and from the body as far as it has arrived. Notes in the trail what the body was.
   */
  end(): GatewayError {
    const { exchange, route } = this.#owner;
    const body = this.#read.whole();
    const isLong = body.length > ERROR_BODY_BYTES_MAX;
    // The log gets the media type and the length, which tell the operator where the error came from. A page of HTML often comes from a
    // proxy in front of the service.
    if (isServerError(this.status) || !hasJsonType(this.#headers))
      exchange.trail.note('upstreamBody', bodyShape(this.#headers, isLong ? undefined : body.length));
    const parsed = isLong ? Buffer.alloc(0) : body;
    const loginFault = missingCredentialCause(route, exchange.operation);
    return toUpstreamRefusal(this.status, this.#headers, parsed, exchange, loginFault);
  }
}

/** @param length undefined if the body is too long */
function bodyShape(headers: AnswerHeaders, length: number | undefined): string {
  const type = firstValueOf(headers['content-type']);
  const shown = type === undefined ? 'without a media type' : visibleLine(shortTextOf(type, TYPE_LENGTH_MAX));
  return `${shown}, ${length ?? `more than ${ERROR_BODY_BYTES_MAX}`} bytes`;
}
