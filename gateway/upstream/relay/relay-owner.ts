// The exchange whose answer a relay passes on, and what the relay tells it. The attempts implement it (upstream/attempts/attempts.ts).

import type { GatewayError } from '../../catalogue/errors.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { StreamEnd, StreamKind } from '../../exchange/findings.ts';
import type { ExchangeClock } from '../deadlines/exchange-clock.ts';
import type { UpstreamRoute } from '../routes.ts';

/**
 * How an attempt failed: the connection was `lost`, the time of the attempt ran out (`timeout`), the upstream answered with an error
 * (`status`), or `other`, which is never retried.
 */
export type AttemptFailure = 'lost' | 'timeout' | 'status' | 'other';

/** The relay makes one of the last three calls, when the attempt has ended. A promise would cost each request more. */
export interface RelayOwner {
  readonly exchange: Forwardable;
  readonly route: UpstreamRoute;
  readonly clock: ExchangeClock;
  /** The answer is a stream, which `end` can end early. */
  openStream(kind: StreamKind, end: (why: StreamEnd) => void): void;
  /** The client has the whole answer. */
  relayed(): void;
  /** The client gets none of this answer, or a part of it. */
  failed(error: GatewayError, failure: AttemptFailure): void;
  /** The client has left, or has another answer. Has no effect while the attempt outlasts its client. */
  clientLeft(): void;
}
