// Refuses requests when the gateway itself is overloaded: too many requests, too many buffered bytes of bodies, or an event loop that is
// late. Throws gateway_overloaded.

import { GatewayError } from '../catalogue/errors.ts';
import type { Admitted, Permitted, Reservation } from '../exchange/exchange.ts';
import { Loads } from './loads.ts';
import { createPressure, type LoopProbe } from './pressure.ts';
import type { OverloadSettings } from './settings.ts';
import type { Shedding, ShedReason } from './shedding.ts';

export interface OverloadRules extends OverloadSettings {
  /** The longest allowed body, which an organization with no other request in progress may send. */
  readonly bodyBytesMax: number;
}

export interface OverloadOptions {
  rules(): OverloadRules;
  /** Number of requests in progress. */
  requestsInProgress(): number;
  /** Whether the credential of the request is known to be valid (wiring/identity.ts). */
  isKnownCaller(admitted: Admitted): boolean;
  readonly shedding: Shedding;
  readonly probe: LoopProbe;
}

export interface Overload {
  /** Checks each request before any other work is done for it. */
  shed(admitted: Admitted): void;
  /** Counts the request for its organization until `noteEnd`. */
  reserve(permitted: Permitted): void;
  /** Counts more buffered bytes of the body. */
  hold(reservation: Reservation, bytes: number): void;
  /** Call it at the end of every exchange. */
  noteEnd(reservation: Reservation): void;
  bufferedBytes(): number;
  status(): object;
  stop(): void;
}

/** Only after this time is the loop known to be quiet. */
const LOOP_RETRY_SECONDS = 2;

export function createOverload({
  rules,
  requestsInProgress,
  isKnownCaller,
  shedding,
  probe,
}: OverloadOptions): Overload {
  const loads = new Loads();
  const pressure = createPressure(() => rules().loopDelayMs);
  const probing = probe(pressure.sample);

  function refuse(reason: ShedReason, retryAfterSeconds = 1): never {
    shedding.note(reason);
    throw new GatewayError('gateway_overloaded', { retryAfterSeconds, cause: new Error(reason) });
  }

  return {
    shed(admitted) {
      if (pressure.isHigh() && !(isKnownCaller(admitted) && pressure.letsIn()))
        refuse('event_loop', LOOP_RETRY_SECONDS);
      if (requestsInProgress() > rules().maxInFlight) refuse('in_flight');
    },
    reserve({ state, caller, response }) {
      // If the client left before it was identified, `noteEnd` has already been called.
      if (response.destroyed) return;
      const { maxInFlight, organizationShare } = rules();
      const requestsMax = Math.max(1, Math.floor(maxInFlight * organizationShare));
      if (!loads.begin(state, caller, requestsMax)) refuse('organization');
    },
    hold(reservation, bytes) {
      const { bufferedBytesMax, organizationShare, bodyBytesMax } = rules();
      const ofOneMax = Math.max(bodyBytesMax, bufferedBytesMax * organizationShare);
      if (!loads.hold(reservation, bytes, bufferedBytesMax, ofOneMax)) refuse('buffered_bytes');
    },
    noteEnd: (reservation) => loads.end(reservation),
    bufferedBytes: () => loads.bytesHeld(),
    status() {
      const { maxInFlight, bufferedBytesMax } = rules();
      return {
        shedding: shedding.isShedding(),
        in_flight: requestsInProgress(),
        in_flight_max: maxInFlight,
        buffered_bytes: loads.bytesHeld(),
        buffered_bytes_max: bufferedBytesMax,
        loop_delay_ms: Math.round(pressure.lateMs()),
        loop_overloaded: pressure.isHigh(),
      };
    },
    stop() {
      probing.stop();
      shedding.stop();
    },
  };
}
