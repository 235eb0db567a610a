// What the relay tells the attempts about the end of one attempt.

import type { GatewayError } from '../../catalogue/errors.ts';
import type { StreamEnd, StreamKind } from '../../exchange/findings.ts';

/**
 * How an attempt failed: the connection was `lost`, the time of the attempt ran out (`timeout`), the upstream answered with an error
 * (`status`), or `other`, which is never retried.
 */
export type AttemptFailure = 'lost' | 'timeout' | 'status' | 'other';

/** The object that began the attempt. The relay tells it the end by a call, because a promise would cost each request more. */
export interface AttemptOwner {
  /** The client has the whole answer. */
  relayed(): void;
  failed(error: GatewayError, failure: AttemptFailure): void;
  clientLeft(): void;
  /** Throws too_many_streams. */
  openStream(kind: StreamKind, end: (why: StreamEnd) => void): void;
}
