// Chooses the target of each request through a tunnel.

import type { Tunnel } from './table.ts';

export interface TunnelTargetsOptions {
  /** Returns the current origin of a configured address. wiring/sandbox.ts */
  originOf(address: string): string;
  /** Returns true if a target is unhealthy or ejected. upstream/targets/target-set.ts */
  isOut(upstream: string, address: string): boolean;
}

export interface TunnelTargets {
  /** Returns the next address in turn. Unhealthy and ejected targets are skipped, unless all targets are. */
  targetOf(tunnel: Tunnel): URL;
  /** Returns the same object for the same origin. */
  urlOf(origin: string): URL;
}

export function createTunnelTargets({ originOf, isOut }: TunnelTargetsOptions): TunnelTargets {
  const urls = new Map<string, URL>();
  const rotations = new Map<string, number>();

  function urlOf(origin: string): URL {
    const url = urls.get(origin) ?? new URL(origin);
    urls.set(origin, url);
    return url;
  }

  function targetOf({ name, upstream, addresses }: Tunnel): URL {
    const rotation = (rotations.get(name) ?? 0) % addresses.length;
    const inTurn = addresses.length === 1 ? addresses : [...addresses.slice(rotation), ...addresses.slice(0, rotation)];
    const address = inTurn.find((one) => !isOut(upstream, one)) ?? (inTurn[0] as string);
    rotations.set(name, addresses.indexOf(address) + 1);
    return urlOf(originOf(address));
  }

  return { targetOf, urlOf };
}
