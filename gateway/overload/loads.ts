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

export class Loads {
  readonly #loads = new Map<string, KeptLoad>();
  readonly #noted = new CallerNote<KeptLoad>();
  #bytesHeld = 0;

  /**
   * Counts a request for its organization until `end`. Returns false, and counts nothing, if the organization already has `requestsMax`.
   */
  begin(reservation: Reservation, caller: Caller, requestsMax: number): boolean {
    const load = this.#loadOf(caller);
    if (load.requests >= requestsMax) return false;
    load.requests += 1;
    reservation.load = load;
    return true;
  }

  /** Counts more buffered bytes of the body. Returns false if they exceed `bytesMax` in all, or `ofOneMax` for the organization. */
  hold(reservation: Reservation, bytes: number, bytesMax: number, ofOneMax: number): boolean {
    const { load } = reservation;
    // The client has left, and the buffered part of its body was dropped.
    if (load === undefined) return true;
    reservation.bytesHeld += bytes;
    load.bytes += bytes;
    this.#bytesHeld += bytes;
    return this.#bytesHeld <= bytesMax && load.bytes <= ofOneMax;
  }

  /** Removes everything that was counted for the request. */
  end(reservation: Reservation): void {
    const { load } = reservation;
    if (load === undefined) return;
    reservation.load = undefined;
    load.requests -= 1;
    load.bytes -= reservation.bytesHeld;
    this.#bytesHeld -= reservation.bytesHeld;
  }

  bytesHeld(): number {
    return this.#bytesHeld;
  }

  #loadOf(caller: Caller): OrganizationLoad {
    const known = this.#noted.get(caller);
    if (known !== undefined && !known.isDropped) return known;
    const { organization, subject } = caller;
    const load = this.#loadNamed(organization === undefined ? subject : organization.id);
    this.#noted.set(caller, load);
    return load;
  }

  #loadNamed(name: string): KeptLoad {
    const known = this.#loads.get(name);
    if (known !== undefined) return known;
    if (this.#loads.size >= LOADS_MAX) this.#forgetIdle();
    const load = { requests: 0, bytes: 0, isDropped: false };
    this.#loads.set(name, load);
    return load;
  }

  /**
   * Drops the loads of organizations without requests in progress. A caller that still refers to a dropped load keeps it; other callers of
   * the organization get a new one.
   */
  #forgetIdle(): void {
    for (const [name, load] of this.#loads)
      if (load.requests === 0) {
        load.isDropped = true;
        this.#loads.delete(name);
      }
  }
}
