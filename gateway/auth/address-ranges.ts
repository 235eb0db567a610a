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

/** Whether every address of a range is in another range. An IPv4 range and its form in IPv6 (`::ffff:…`) are the same. */
export function isRangeWithin(range: string, outer: string): boolean {
  const [inside, around] = [parseRange(range), parseRange(outer)];
  if (inside === undefined || around === undefined) return false;
  const [bits, bitsAround] = [bitsOf(inside), bitsOf(around)];
  return bitsAround.length <= bits.length && bits.startsWith(bitsAround);
}

/** Returns the fixed bits of a range, as bits of an IPv6 address. */
function bitsOf({ network, bits, family }: Range): string {
  const address = family === 'ipv4' ? `::ffff:${network}` : network;
  return wordsOf(address)
    .map((word) => word.toString(2).padStart(16, '0'))
    .join('')
    .slice(0, family === 'ipv4' ? 96 + bits : bits);
}

/** Returns the eight words of an IPv6 address. The URL parser knows all spellings of such an address. */
function wordsOf(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const parse = (text: string) => (text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16)));
  const [first, last] = [parse(head), parse(tail ?? '')];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
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
