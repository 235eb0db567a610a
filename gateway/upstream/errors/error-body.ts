// Collects the body of an answer with a status of 400 or above. Then it fails the attempt with the refusal for the client.

import type { AnswerHeaders, Control } from '../../http1/client/wire.ts';
import { shortTextOf, visibleLine } from '../../shared/text.ts';
import { firstValueOf } from '../headers/answer-headers.ts';
import { CollectedBody } from '../relay/collected-body.ts';
import type { Relay } from '../relay/relay.ts';
import { ERROR_BODY_BYTES_MAX, hasJsonType } from './parse-error-body.ts';
import { isDecidedByStatus, missingCredentialCause, toUpstreamRefusal } from './upstream-errors.ts';

const TYPE_LENGTH_MAX = 80;

type FailingAttempt = Pick<Relay, 'exchange' | 'route' | 'fail'>;

/**
 * Reads the body of an error to its end, so that the connection can be used again, but stops if the body is too long. Then fails the
 * attempt with the refusal for the client.
 */
export class ErrorBody {
  readonly status: number;
  readonly #read: CollectedBody;
  readonly #headers: AnswerHeaders;
  readonly #relay: FailingAttempt;

  /** @param read collects the body if it is read to its end for the rules; `data` is then not called */
  constructor(
    status: number,
    headers: AnswerHeaders,
    relay: FailingAttempt,
    read = new CollectedBody(ERROR_BODY_BYTES_MAX),
  ) {
    this.status = status;
    this.#headers = headers;
    this.#relay = relay;
    this.#read = read;
  }

  data(_control: Control, chunk: Buffer): void {
    if (!this.#read.add(chunk)) this.end();
  }

  /**
   * Fails the attempt with the refusal, which is made from the status, and from the body as far as it has arrived.
   *
   * @param headers of the answer, which rules may have changed
   * @param body of the answer, which rules may have changed
   */
  end(headers = this.#headers, body = this.#read.whole()): void {
    const { exchange, route } = this.#relay;
    const isLong = body.length > ERROR_BODY_BYTES_MAX;
    // The log gets the media type and the length, which tell the operator where the error came from. A page of HTML often comes from a
    // proxy in front of the service.
    if (isDecidedByStatus(this.status) || !hasJsonType(headers))
      exchange.trail.note('upstreamBody', bodyShape(headers, isLong ? undefined : body.length));
    const parsed = isLong ? Buffer.alloc(0) : body;
    const loginFault = missingCredentialCause(route, exchange.operation);
    this.#relay.fail(toUpstreamRefusal(this.status, headers, parsed, exchange, loginFault), 'status');
  }
}

/** @param length undefined if the body is too long */
function bodyShape(headers: AnswerHeaders, length: number | undefined): string {
  const type = firstValueOf(headers['content-type']);
  const shown = type === undefined ? 'without a media type' : visibleLine(shortTextOf(type, TYPE_LENGTH_MAX));
  return `${shown}, ${length ?? `more than ${ERROR_BODY_BYTES_MAX}`} bytes`;
}
