// Counts the bytes and requests in progress of each organization, because each may use only its share of the memory.

import type { Caller } from '../exchange/caller.ts';
import { CallerNote } from '../exchange/caller-memory.ts';
import type { OrganizationLoad, Reservation } from '../exchange/exchange.ts';

/** Above this number of organizations, organizations without requests in progress are dropped. */
const LOADS_MAX = 4096;

/** A load that is kept by its name. */
interface KeptLoad extends OrganizationLoad {
  isDropped: boolean;
}

interface Loads {
  /**
   * Counts a request for its organization until `end`. Returns false, and counts nothing, if the organization already has `requestsMax`.
   */
  begin(reservation: Reservation, caller: Caller, requestsMax: number): boolean;
  /** Counts more buffered bytes of the body. Returns false if they exceed `bytesMax` in all, or `ofOneMax` for the organization. */
  hold(reservation: Reservation, bytes: number, bytesMax: number, ofOneMax: number): boolean;
  /** Removes everything that was counted for the request. */
  end(reservation: Reservation): void;
  bytesHeld(): number;
}

export function createLoads(): Loads {
  const loads = new Map<string, KeptLoad>();
  const noted = new CallerNote<KeptLoad>();
  let bytesHeld = 0;

  function loadOf(caller: Caller): OrganizationLoad {
    const known = noted.get(caller);
    if (known !== undefined && !known.isDropped) return known;
    const { organization, subject } = caller;
    const load = loadNamed(organization === undefined ? subject : organization.id);
    noted.set(caller, load);
    return load;
  }

  function loadNamed(name: string): KeptLoad {
    const known = loads.get(name);
    if (known !== undefined) return known;
    if (loads.size >= LOADS_MAX) forgetIdle();
    const load = { requests: 0, bytes: 0, isDropped: false };
    loads.set(name, load);
    return load;
  }

  /**
   * Drops the loads of organizations without requests in progress. A caller that still refers to a dropped load keeps it; other callers of
   * the organization get a new one.
   */
  function forgetIdle(): void {
    for (const [name, load] of loads)
      if (load.requests === 0) {
        load.isDropped = true;
        loads.delete(name);
      }
  }

  return {
    begin(reservation, caller, requestsMax) {
      const load = loadOf(caller);
      if (load.requests >= requestsMax) return false;
      load.requests += 1;
      reservation.load = load;
      return true;
    },
    hold(reservation, bytes, bytesMax, ofOneMax) {
      const { load } = reservation;
      // The client has left, and the buffered part of its body was dropped.
      if (load === undefined) return true;
      reservation.bytesHeld += bytes;
      load.bytes += bytes;
      bytesHeld += bytes;
      return bytesHeld <= bytesMax && load.bytes <= ofOneMax;
    },
    end(reservation) {
      const { load } = reservation;
      if (load === undefined) return;
      reservation.load = undefined;
      load.requests -= 1;
      load.bytes -= reservation.bytesHeld;
      bytesHeld -= reservation.bytesHeld;
    },
    bytesHeld: () => bytesHeld,
  };
}
