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
  readonly #owner: RelayOwner;
  readonly #status: number;
  readonly #headers: AnswerHeaders;
  readonly #read = new CollectedBody(ERROR_BODY_BYTES_MAX);

  constructor(owner: RelayOwner, status: number, headers: AnswerHeaders) {
    this.#owner = owner;
    this.#status = status;
    this.#headers = headers;
  }

  /** Returns the refusal as soon as the body has become too long to be read to its end. */
  data(chunk: Buffer): Received | undefined {
    return this.#read.add(chunk) ? undefined : this.end();
  }

  end(): Received {
    return { kind: 'fail', error: this.refusal(), failure: 'status' };
  }

  refusal(): GatewayError {
    return answerRefusal(this.#owner, this.#status, this.#headers, this.#read.whole());
  }
}

/**
 * Returns the refusal for a status from 400 on, which is made from the status, and from the body as far as it has arrived. Notes in the
 * trail what the body was.
 */
export function answerRefusal(owner: RelayOwner, status: number, headers: AnswerHeaders, body: Buffer): GatewayError {
  const { exchange, route } = owner;
  const isLong = body.length > ERROR_BODY_BYTES_MAX;
  // The log gets the media type and the length, which tell the operator where the error came from. A page of HTML often comes from a proxy
  // in front of the service.
  if (isServerError(status) || !hasJsonType(headers))
    exchange.trail.note('upstreamBody', bodyShape(headers, isLong ? undefined : body.length));
  const loginFault = missingCredentialCause(route, exchange.operation);
  return toUpstreamRefusal(status, headers, isLong ? Buffer.alloc(0) : body, exchange, loginFault);
}

/** @param length undefined if the body is too long */
function bodyShape(headers: AnswerHeaders, length: number | undefined): string {
  const type = firstValueOf(headers['content-type']);
  const shown = type === undefined ? 'without a media type' : visibleLine(shortTextOf(type, TYPE_LENGTH_MAX));
  return `${shown}, ${length ?? `more than ${ERROR_BODY_BYTES_MAX}`} bytes`;
}
