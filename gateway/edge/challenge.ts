// Answers the challenges of a certificate authority that the gateway itself has caused (RFC 8555 section 8.3). Throws nothing.

import type { Admitted } from '../exchange.ts';

const PREFIX = '/.well-known/acme-challenge/';

/** The text that proves the control of a host name, for a token that the gateway awaits; undefined for any other token. */
export type OwnChallenge = (token: string) => string | undefined;

/** Returns whether the request was one of these, and has been answered. */
export function createAnswerChallenge(ownChallenge: OwnChallenge): (admitted: Admitted) => boolean {
  return function answerChallenge({ method, path, response, trail, carried }) {
    if (!path.startsWith(PREFIX) || (method !== 'GET' && method !== 'HEAD')) return false;
    const proof = ownChallenge(path.slice(PREFIX.length));
    if (proof === undefined) return false;
    trail.status = 200;
    const body = Buffer.from(proof);
    const framing = ['Content-Type', 'application/octet-stream', 'Content-Length', String(body.length)];
    response.writeHead(200, [...carried, ...framing, 'Cache-Control', 'no-store']);
    response.end(method === 'HEAD' ? undefined : body);
    return true;
  };
}
