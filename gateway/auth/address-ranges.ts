// Address allow-lists of keys: single addresses and CIDR ranges, IPv4 and IPv6.

import { BlockList, isIP } from 'node:net';

interface Range {
  readonly network: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Whether a text is an address or a CIDR range. */
export function isAddressRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

/**
 * Returns a predicate that tests one address against the ranges; undefined if the list is empty, which means that any address is allowed.
 */
export function allowanceOf(ranges: readonly string[]): ((address: string) => boolean) | undefined {
  if (ranges.length === 0) return undefined;
  const list = new BlockList();
  for (const text of ranges) {
    const range = parseRange(text);
    // An unreadable range matches no address; the list stays in force.
    if (range !== undefined) list.addSubnet(range.network, range.bits, range.family);
  }
  return function allowsAddress(address) {
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
}

function parseRange(text: string): Range | undefined {
  const [network = '', bitsText, ...rest] = text.split('/');
  const version = isIP(network);
  if (version === 0 || network.includes('%') || rest.length > 0) return undefined;
  const bitsMax = version === 4 ? 32 : 128;
  if (bitsText !== undefined && !/^\d{1,3}$/.test(bitsText)) return undefined;
  const bits = bitsText === undefined ? bitsMax : Number(bitsText);
  return bits <= bitsMax ? { network, bits, family: version === 4 ? 'ipv4' : 'ipv6' } : undefined;
}
