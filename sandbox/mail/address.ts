// The client address of a request. With `useForwarded` the mail server trusts the header of every peer: it has no list of
// trusted proxies.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { phrased, Refused } from './answers.ts';
import type { Bans } from './bans.ts';

// RFC 7239, section 6: an IPv6 address stands in brackets and quotes; a port may follow.
const FORWARDED = /(?:^|[;,\s])for="?(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::\d+)?"?(?=$|[;,\s])/i;

/** `Forwarded: for=` if it can be read, else the left-most of `X-Forwarded-For`, else the socket. */
function clientAddress(request: IncomingMessage, useForwarded: boolean): string {
  const socket = request.socket.remoteAddress ?? '';
  if (!useForwarded) return socket;
  const [, six, four] = FORWARDED.exec(request.headers.forwarded ?? '') ?? [];
  const leftmost = request.headers['x-forwarded-for']?.toString().split(',')[0]?.trim();
  return [six ?? four, leftmost].find((text) => text !== undefined && isIP(text) > 0) ?? socket;
}

/**
 * The address a request counts for. A banned one that was forwarded is told so, as there is no connection of its own to
 * drop; the socket's own address was looked at when it connected.
 *
 * @throws Refused 403
 */
export type AddressOf = (request: IncomingMessage) => string;

export function createAddressOf(bans: Bans, useForwarded: boolean): AddressOf {
  return function addressOf(request) {
    const address = clientAddress(request, useForwarded);
    if (address !== request.socket.remoteAddress && bans.isBanned(address)) throw new Refused(phrased(403));
    return address;
  };
}
