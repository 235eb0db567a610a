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

/** An attempt that has failed: the client got none of its answer, or a part of it. */
export interface FailedAttempt {
  readonly error: GatewayError;
  readonly failure: AttemptFailure;
  /** True if a byte of the request may have been sent. */
  readonly wasSent: boolean;
  /** Status of the upstream's answer; undefined if none came. */
  readonly status: number | undefined;
}

/** The relay ends itself, and then makes one of the last three calls. A promise would cost each request more. */
export interface RelayOwner {
  readonly exchange: Forwardable;
  readonly route: UpstreamRoute;
  readonly clock: ExchangeClock;
  /** The answer is a stream, which `end` can end early. */
  openStream(kind: StreamKind, end: (why: StreamEnd) => void): void;
  /** The client has the whole answer. @param status of the upstream's answer */
  relayed(status: number): void;
  failed(attempt: FailedAttempt): void;
  /** The client has left, or has another answer. */
  clientLeft(): void;
}
