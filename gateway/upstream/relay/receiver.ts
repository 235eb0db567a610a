// The interface of the objects that get the body of an answer from the relay (relay.ts).

import type { GatewayError } from '../../catalogue/errors.ts';
import type { AnswerTreatment } from './answer-judge.ts';

/** The functions return undefined if the body continues. */
export interface Receiver {
  data(chunk: Buffer): Received | undefined;
  end(): Received | undefined;
  /** Returns the refusal for a status from 400 on, made from the body as far as it has arrived. No other answer needs it. */
  refusal?(): GatewayError;
}

/** What the relay does next. */
export type Received =
  /** The first chunk is held back until all chunks of the same read have arrived; the relay then releases it. */
  | { readonly kind: 'first' }
  /** The rest of the answer is on its way to the client. */
  | { readonly kind: 'complete' }
  /** The answer is being stored. The relay then releases it, if the attempt has not ended. */
  | { readonly kind: 'store'; readonly stored: Promise<void>; readonly release: Release }
  | AnswerTreatment;

export const FIRST: Received = { kind: 'first' };
export const COMPLETE: Received = { kind: 'complete' };

/** Sends to the client what was held back. */
export type Release = () => Received | undefined;
