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
 * @param ownScheme of the listener: what a client sees that connects to it without a proxy
 * @param onUnreadable told of an entry that a trusted proxy has written and that is no address, with the proxy's address: the walk ends
 *   there, so that all clients behind that proxy are counted as one
 */
export function createClientAddress(
  trustedProxies: readonly string[],
  ownScheme: 'http' | 'https',
  onUnreadable: (entry: string, proxy: string) => void = () => undefined,
) {
  const isTrusted = createIsTrusted(trustedProxies);

  return function clientAddress(peer: string, headers: ReadonlyMap<string, string>): ClientAddress {
    let address = withoutMapping(peer);
    if (trustedProxies.length === 0 || !isTrusted(address)) return { address, scheme: ownScheme };
    const written = headers.get('x-forwarded-for')?.trim();
    const hops = written ? written.split(',') : [];
    while (hops.length > 0) {
      const entry = (hops.pop() as string).trim();
      const hop = withoutMapping(withoutPort(entry));
      if (isIP(hop) === 0) {
        onUnreadable(entry, address);
        break;
      }
      address = hop;
      if (!isTrusted(hop)) break;
    }
    const forwarded = headers.get('x-forwarded-proto') ?? ownScheme;
    return { address, scheme: forwarded === 'https' ? 'https' : 'http' };
  };
}

/** `192.0.2.1:4711`, `[2001:db8::1]:4711` and `[2001:db8::1]` are how some balancers write an address. */
function withoutPort(entry: string): string {
  if (isIP(entry) !== 0) return entry;
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(entry) ?? [];
  // Brackets are for IPv6 alone.
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : entry;
  return plain ?? entry;
}

/** `::ffff:192.0.2.1` is how a dual-stack socket shows an IPv4 peer. */
export function withoutMapping(address: string): string {
  return /^::ffff:[\d.]+$/i.test(address) ? address.slice(7) : address;
}
