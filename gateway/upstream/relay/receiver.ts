// The interface of the objects that get the body of an answer from the relay (relay.ts).

import type { GatewayError } from '../../catalogue/errors.ts';
import type { AnswerTreatment } from './answer-judge.ts';

export interface Receiver {
  data(chunk: Buffer): Received;
  end(): Received;
  /** Returns the refusal for a status from 400 on, made from the body as far as it has arrived. No other answer needs it. */
  refusal?(): GatewayError;
}

/**
 * What the relay does next:
 *
 *   undefined    the body continues
 *   `first`      the first chunk is held back until all chunks of the same read have arrived; the relay then releases it
 *   `complete`   the rest of the answer is on its way to the client
 *   a promise    the answer is being stored. The relay then releases it, if the attempt has not ended
 *   an error     the client gets this refusal instead
 *   an answer    it was read to its end and judged, and goes to the client
 *   `next`       the judge sends the next request of the attempt
 */
export type Received = undefined | 'first' | 'complete' | Promise<Release> | AnswerTreatment;

/** Sends to the client what was held back. */
export type Release = () => Received;
