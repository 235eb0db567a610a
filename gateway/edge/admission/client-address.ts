// Determines the client's address behind trusted proxies.

import { BlockList, isIP } from 'node:net';

const COLON = 0x3a;
/** The largest number of addresses for which the answer is remembered, because each question to Node's list creates an object. */
const ADDRESSES_MAX = 1000;

/** Builds a list from address ranges, `10.0.0.0/8` or single addresses. The configuration has checked their form. */
function createAddressList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

interface ClientAddress {
  readonly address: string;
  /** The scheme that the client uses. A trusted proxy may have terminated TLS. */
  readonly scheme: string;
}

/** Whether an address belongs to a trusted proxy. */
export function createIsTrusted(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = createAddressList(trustedProxies);
  const known = new Map<string, boolean>();
  return function isTrusted(address) {
    let answer = known.get(address);
    if (answer === undefined) {
      answer = trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
      if (known.size >= ADDRESSES_MAX) known.clear();
      known.set(address, answer);
    }
    return answer;
  };
}

/**
 * Reads X-Forwarded-For from the right and stops at the first address that is not a trusted proxy; ignores the header of an untrusted peer.
 *
 * @param ownScheme scheme of the listener, for clients that connect without a proxy
 * @param onUnreadable called with an entry of a trusted proxy that is not an address, and with the proxy's address. Reading ends there, so
 * all clients behind that proxy are counted as one
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

/** Some load balancers write addresses as `192.0.2.1:4711`, `[2001:db8::1]:4711` or `[2001:db8::1]`. */
function withoutPort(entry: string): string {
  if (isIP(entry) !== 0) return entry;
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(entry) ?? [];
  // Only IPv6 addresses may be in brackets.
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : entry;
  return plain ?? entry;
}

/** A dual-stack socket shows an IPv4 peer as `::ffff:192.0.2.1`. */
export function withoutMapping(address: string): string {
  if (address.charCodeAt(0) !== COLON) return address;
  return /^::ffff:[\d.]+$/i.test(address) ? address.slice(7) : address;
}
