// What the gateway refuses when it has too much to do itself: more requests than it may hold, more bytes of bodies, or an event loop that
// does not come round. Throws gateway_overloaded.

import { GatewayError } from '../errors.ts';
import type { Admitted, Permitted, Trail } from '../exchange.ts';
import { createLoads } from './loads.ts';
import { createPressure } from './pressure.ts';
import type { LoopProbe } from './probe.ts';
import type { Shedding, ShedReason } from './shedding.ts';

export interface OverloadRules {
  /** Requests under way in this process. */
  readonly maxInFlight: number;
  /** The part of all bounds that one organization may use. */
  readonly organizationShare: number;
  /** How late the event loop may be. */
  readonly loopDelayMs: number;
  /** Of bodies that are held until they have been sent on. */
  readonly bufferedBytesMax: number;
  /** The longest body there can be: whoever has nothing else under way may send it. */
  readonly bodyBytesMax: number;
}

export interface OverloadOptions {
  rules(): OverloadRules;
  /** Requests under way. */
  inFlight(): number;
  isKnownCaller(admitted: Admitted): boolean;
  readonly shedding: Shedding;
  readonly probe: LoopProbe;
}

export interface Overload {
  /** Asked of each request before anything is done for it. */
  check(admitted: Admitted): void;
  /** From here on the request counts for its organization, until `ended`. */
  enter(permitted: Permitted): void;
  /** Further bytes of its body are held. */
  hold(trail: Trail, bytes: number): void;
  /** To be told of every exchange. */
  ended(trail: Trail): void;
  bufferedBytes(): number;
  status(): object;
  stop(): void;
}

/** It takes as long for the loop to be known to be quiet again. */
const LOOP_RETRY_SECONDS = 2;

export function createOverload({ rules, inFlight, isKnownCaller, shedding, probe }: OverloadOptions): Overload {
  const loads = createLoads();
  const pressure = createPressure(() => rules().loopDelayMs);
  const probing = probe(pressure.sample);

  function refuse(reason: ShedReason, retryAfterSeconds = 1): never {
    shedding.note(reason);
    throw new GatewayError('gateway_overloaded', { retryAfterSeconds, cause: new Error(reason) });
  }

  return {
    check(admitted) {
      if (pressure.isHigh() && !(isKnownCaller(admitted) && pressure.letsIn()))
        refuse('event_loop', LOOP_RETRY_SECONDS);
      if (inFlight() > rules().maxInFlight) refuse('in_flight');
    },
    enter({ trail, caller, response }) {
      // Whoever left before it was known who they are has been told of as ended already.
      if (response.destroyed) return;
      const { maxInFlight, organizationShare } = rules();
      const requestsMax = Math.max(1, Math.floor(maxInFlight * organizationShare));
      if (!loads.begin(trail, caller, requestsMax)) refuse('organization');
    },
    hold(trail, bytes) {
      const { bufferedBytesMax, organizationShare, bodyBytesMax } = rules();
      const ofOneMax = Math.max(bodyBytesMax, bufferedBytesMax * organizationShare);
      if (!loads.hold(trail, bytes, bufferedBytesMax, ofOneMax)) refuse('buffered_bytes');
    },
    ended: loads.end,
    bufferedBytes: loads.bytesHeld,
    status() {
      const { maxInFlight, bufferedBytesMax } = rules();
      return {
        shedding: shedding.isShedding(),
        in_flight: inFlight(),
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
