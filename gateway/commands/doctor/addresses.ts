// Checks publicUrl, which clients see, and trustedProxies, whose X-Forwarded-For the gateway believes.

import type { Config } from '../../config/load.ts';
import { isSimulated } from '../../upstream/targets/addresses.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';

/** A range with a shorter prefix is larger than the network of any installation. */
const PREFIX_MIN = { v4: 8, v6: 16 } as const;

export function checkPublicUrl({ gateway, upstreams }: Config): Finding {
  const { publicUrl } = gateway;
  const { protocol, hostname } = new URL(publicUrl);
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(hostname);
  if (Object.values(upstreams).every(isSimulated)) return ok('publicUrl', `${publicUrl}, without a real service.`);
  const remedy = 'Set publicUrl in gateway.yaml to the https:// address that clients use.';
  if (isLocal) return warn('publicUrl', `${publicUrl} names each client's own machine.`, remedy);
  if (protocol === 'http:') return warn('publicUrl', `${publicUrl} sends keys over the network in plain text.`, remedy);
  return ok('publicUrl', publicUrl);
}

export function checkTrustedProxies({ gateway: { trustedProxies, publicUrl, tls } }: Config): Finding {
  const check = 'trustedProxies';
  const widths = trustedProxies.map((range) => ({ range, bits: bitsOf(range), min: minimumFor(range) }));
  const unbounded = widths.find(({ bits }) => bits === 0);
  if (unbounded !== undefined) {
    const says = `${unbounded.range} contains every address: each client could claim any address.`;
    return fail(check, says, 'List the addresses of your balancers only.');
  }
  const wide = widths.find(({ bits, min }) => bits < min);
  if (wide !== undefined)
    return warn(check, `${wide.range} is very wide.`, 'List the addresses of your balancers only.');
  if (trustedProxies.length === 0 && publicUrl.startsWith('https:') && tls === undefined) {
    const says = 'A proxy in front ends TLS, but is not trusted: all clients seem to have one address.';
    return warn(check, says, 'List the addresses of your balancers.');
  }
  return ok(check, trustedProxies.length === 0 ? 'There is no proxy in front.' : trustedProxies.join(', '));
}

function bitsOf(range: string): number {
  const [address = '', bits] = range.split('/');
  return bits === undefined ? (address.includes(':') ? 128 : 32) : Number(bits);
}

function minimumFor(range: string): number {
  return range.includes(':') ? PREFIX_MIN.v6 : PREFIX_MIN.v4;
}
