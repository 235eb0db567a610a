// Splits the addresses of upstreams into origin and path. Connections are opened to the origin; the path is put before the paths of the
// contract.

import type { Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';

interface TargetAddresses {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
}

/**
 * The path of an upstream's addresses, which replaces the path of the servers in its contracts; undefined if the addresses have no path.
 */
export interface AddressPath {
  readonly addressPath?: string | undefined;
}

const PATH = /^(https?:\/\/[^/]+)(\/.*?)\/?$/;

/** Returns the entries with origins as addresses. Pushes a mistake for an entry whose addresses have different paths. */
export function withOrigins<Entry extends TargetAddresses>(
  entries: Readonly<Record<string, Entry>>,
  source: Source,
  mistakes: Mistake[],
): Record<string, Entry & AddressPath> {
  const all = Object.entries(entries).map(([name, entry]) => {
    const addresses = [...(entry.live ?? []), ...(entry.test ?? [])].filter((one) => /^https?:/.test(one));
    const paths = [...new Set(addresses.map(pathOfAddress))];
    if (paths.every((path) => path === '')) return [name, entry];
    if (paths.length > 1) {
      const reason = `its addresses have different paths (${paths.map((path) => path || '/').join(', ')}).`;
      const remedy = 'Write the same path behind each address under live and test, or one entry for each path.';
      mistakes.push(source.mistakeAt(['upstreams', name, 'live'], reason, remedy));
    }
    const origins = {
      live: entry.live.map(originOfAddress),
      ...(entry.test && { test: entry.test.map(originOfAddress) }),
    };
    return [name, { ...entry, ...origins, addressPath: paths[0] }];
  });
  return Object.fromEntries(all);
}

/** Returns the path of an address, without a slash at the end. */
export function pathOfAddress(address: string): string {
  const path = PATH.exec(address)?.[2] ?? '';
  return path === '/' ? '' : path;
}

export function originOfAddress(address: string): string {
  return PATH.exec(address)?.[1] ?? address;
}
