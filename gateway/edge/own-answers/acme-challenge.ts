// Answers the challenges of a certificate authority from which the gateway has ordered a certificate (RFC 8555 section 8.3). Throws
// nothing.

import type { Admitted } from '../../exchange/exchange.ts';

const PREFIX = '/.well-known/acme-challenge/';
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;

/** Finds the text that proves the control of a host name, for a token that the gateway awaits; undefined for any other token. */
export type OwnChallenge = (token: string) => Promise<string | undefined>;

/**
 * Returns a function that answers a request if it is such a challenge, and resolves with whether it has answered. The function returns
 * false at once for other paths.
 *
 * @param ownChallenge undefined if the gateway awaits none
 */
export function createAnswerChallenge(
  ownChallenge: OwnChallenge | undefined,
): (admitted: Admitted) => false | Promise<boolean> {
  return function answerChallenge(admitted) {
    const { method, path } = admitted;
    if (ownChallenge === undefined || !path.startsWith(PREFIX) || (method !== 'GET' && method !== 'HEAD')) return false;
    const token = path.slice(PREFIX.length);
    return TOKEN.test(token) && answer(admitted, ownChallenge(token));
  };
}

async function answer(
  { method, response, trail, commonHeaders }: Admitted,
  finding: Promise<string | undefined>,
): Promise<boolean> {
  const proof = await finding;
  if (proof === undefined) return false;
  trail.status = 200;
  const body = Buffer.from(proof);
  const framing = ['Content-Type', 'application/octet-stream', 'Content-Length', String(body.length)];
  response.writeHead(200, [...commonHeaders, ...framing, 'Cache-Control', 'no-store']);
  response.end(method === 'HEAD' ? undefined : body);
  return true;
}
