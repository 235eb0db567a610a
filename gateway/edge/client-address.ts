// Who is really asking, when trusted proxies stand in front.

import { BlockList, isIP } from 'node:net';

/** Ranges of addresses, `10.0.0.0/8` or single addresses. The forms have been checked by the configuration. */
export function createAddressList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

export interface ClientAddress {
  readonly address: string;
  /** As the client sees it: a trusted proxy may have ended TLS. */
  readonly scheme: string;
}

/** Whether an address is that of a trusted proxy. */
export function createIsTrusted(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = createAddressList(trustedProxies);
  return (address) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Walks X-Forwarded-For from the right and stops at the first address that is not a trusted proxy; from an untrusted peer nothing of
 * it is believed.
 *
 * @param ownScheme of the listener: what a client sees that nobody stands in front of
 */
export function createClientAddress(trustedProxies: readonly string[], ownScheme: 'http' | 'https') {
  const isTrusted = createIsTrusted(trustedProxies);

  return function clientAddress(peer: string, headers: ReadonlyMap<string, string>): ClientAddress {
    let address = withoutMapping(peer);
    if (trustedProxies.length === 0 || !isTrusted(address)) return { address, scheme: ownScheme };
    const hops = (headers.get('x-forwarded-for') ?? '').split(',').map((hop) => withoutMapping(hop.trim()));
    while (hops.length > 0) {
      const hop = hops.pop() as string;
      if (isIP(hop) === 0) break;
      address = hop;
      if (!isTrusted(hop)) break;
    }
    const forwarded = headers.get('x-forwarded-proto') ?? ownScheme;
    return { address, scheme: forwarded === 'https' ? 'https' : 'http' };
  };
}

/** `::ffff:192.0.2.1` is how a dual-stack socket shows an IPv4 peer. */
export function withoutMapping(address: string): string {
  return /^::ffff:[\d.]+$/i.test(address) ? address.slice(7) : address;
}
