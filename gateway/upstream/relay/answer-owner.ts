// The relay of an answer (relay.ts), as the objects use it that get the body.

import type { GatewayError } from '../../catalogue/errors.ts';
import type { Control } from '../../http1/client/wire.ts';
import type { AttemptFailure } from '../attempts/retry-plan.ts';

export interface AnswerOwner {
  /** Whether the attempt has ended. Do nothing more with it then. */
  readonly ended: boolean;
  /** The control of the connection, once a connection has taken the request. */
  readonly control: Control | undefined;
  /** When the body began to pass to the client, by `performance.now()`. */
  passesSince: number | undefined;
  /** Call it when bytes of the body have arrived, or when the client has caught up. */
  noteProgress(): void;
  /** Call it when the rest of the answer is on its way to the client. */
  complete(): void;
  /** Ends the answer before the upstream has ended it. If `isWhole` is false, the client sees that a part is missing. */
  endHere(isWhole: boolean): void;
  /** Ends the attempt of a client that has left. */
  clientGone(): void;
  /** Fails the attempt, although the upstream has not ended the answer. */
  fail(error: GatewayError, failure: AttemptFailure): void;
  onResponseError(control: Control | undefined, error: Error): void;
  /** If another part of the gateway has already answered the client, ends the attempt and returns true. */
  leaveIfAnswered(): boolean;
  /** Called when the client has read on, so that everything that was written for it has left the gateway. */
  drained(): void;
}
