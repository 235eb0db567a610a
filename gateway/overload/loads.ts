// What is held in memory for requests that are under way, and for whom: one organization gets its share of it, and no more.

import type { Caller, OrganizationLoad, Trail } from '../exchange.ts';

/** With more organizations than this, those that have nothing under way are forgotten. */
const LOADS_MAX = 4096;

export interface Loads {
  /** Counts a request for its organization until `end`. False, and not counted: that has `requestsMax` already. */
  begin(trail: Trail, caller: Caller, requestsMax: number): boolean;
  /** Further bytes of its body are held. False: that is more than `bytesMax` in all, or than `ofOneMax` for its organization. */
  hold(trail: Trail, bytes: number, bytesMax: number, ofOneMax: number): boolean;
  /** Whatever was counted for it counts no more. */
  end(trail: Trail): void;
  bytesHeld(): number;
}

export function createLoads(): Loads {
  const loads = new Map<string, OrganizationLoad>();
  let bytesHeld = 0;

  function loadOf({ organization, subject }: Caller): OrganizationLoad {
    const name = organization === undefined ? subject : organization.id;
    const known = loads.get(name);
    if (known !== undefined) return known;
    if (loads.size >= LOADS_MAX) forgetIdle();
    const load = { requests: 0, bytes: 0 };
    loads.set(name, load);
    return load;
  }

  function forgetIdle(): void {
    for (const [name, { requests }] of loads) if (requests === 0) loads.delete(name);
  }

  return {
    begin(trail, caller, requestsMax) {
      const load = loadOf(caller);
      if (load.requests >= requestsMax) return false;
      load.requests += 1;
      trail.load = load;
      return true;
    },
    hold(trail, bytes, bytesMax, ofOneMax) {
      const { load } = trail;
      // Its client has left, and what it had sent is given up.
      if (load === undefined) return true;
      trail.bytesHeld += bytes;
      load.bytes += bytes;
      bytesHeld += bytes;
      return bytesHeld <= bytesMax && load.bytes <= ofOneMax;
    },
    end(trail) {
      const { load } = trail;
      if (load === undefined) return;
      trail.load = undefined;
      load.requests -= 1;
      load.bytes -= trail.bytesHeld;
      bytesHeld -= trail.bytesHeld;
    },
    bytesHeld: () => bytesHeld,
  };
}
