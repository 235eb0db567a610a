// DNS lookup of upstream names, as the system resolves them. Rotates the order of the addresses, so that connections are spread over them.

import type { LookupAddress, LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Like `dns.lookup` with `all`. */
export type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export function createLookup(lookupAll: LookupAll): LookupFunction {
  let turn = 0;
  return function lookup(hostname, options, callback) {
    lookupAll(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      turn = (turn + 1) % 1_000_000_007;
      const at = turn % Math.max(1, addresses.length);
      const turned = [...addresses.slice(at), ...addresses.slice(0, at)];
      if (options.all === true) callback(null, turned);
      else callback(null, turned[0]?.address ?? '', turned[0]?.family);
    });
  };
}
