// The Accept-Encoding of a request to an upstream: the client's, without codings that the gateway could not decode to check an answer.

import { acceptedCodings } from '../../shared/accept-encoding.ts';

/** What clients send almost always: known codings, without weights. Linear: each name is followed by a comma or the end. */
const PLAIN = /^(?:zstd|br|gzip|deflate)(?:, ?(?:zstd|br|gzip|deflate))*$/;
const known = new Set(['zstd', 'br', 'gzip', 'deflate', 'identity', '*']);

/** Returns `identity` if nothing known is left: a missing field would allow any coding (RFC 9110 section 12.5.3). */
export function upstreamCodings(accepted: string): string {
  if (PLAIN.test(accepted)) return accepted;
  const kept: string[] = [];
  for (const [coding, weight] of acceptedCodings(accepted)) {
    if (known.has(coding)) kept.push(weight === 1 ? coding : `${coding};q=${weight}`);
  }
  return kept.length === 0 ? 'identity' : kept.join(', ');
}
