// The answers of the operations under /session.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { LoginPage } from '../login/pages.ts';
import type { ServedOrigin } from '../origins.ts';
import type { SessionDeps } from './deps.ts';

/** An answer of the gateway, which the relay takes like the answer of a service. */
export interface SessionAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type SessionHandler = (deps: SessionDeps, exchange: Forwardable) => Promise<SessionAnswer>;

export function jsonAnswer(members: object): SessionAnswer {
  return answer(200, 'application/json', JSON.stringify(members));
}

export function pageAnswer({ commonHeaders }: Forwardable, { html, policy }: LoginPage): SessionAnswer {
  usePolicy(commonHeaders, policy);
  return answer(200, 'text/html; charset=utf-8', html);
}

/**
 * Returns the answer of a redirect. The location is a common header of the exchange, because the relay removes addresses of other hosts
 * from answers.
 */
export function redirectAnswer({ commonHeaders }: Forwardable, location: string): SessionAnswer {
  commonHeaders.push('Location', location);
  return { status: 303, headers: { 'content-length': '0', 'cache-control': 'no-store' }, body: Buffer.alloc(0) };
}

export function emptyAnswer(): SessionAnswer {
  return { status: 204, headers: { 'cache-control': 'no-store' }, body: Buffer.alloc(0) };
}

/** Adds the cookies to the common headers, because the relay removes cookies that no entry names from the answers of services. */
export function setCookies({ commonHeaders }: Forwardable, lines: readonly string[]): void {
  for (const line of lines) commonHeaders.push('Set-Cookie', line);
}

/**
 * Replaces the general Content-Security-Policy by the policy of a page. If both policies were sent, both would apply, and the general
 * policy allows no script.
 */
export function usePolicy(commonHeaders: string[], policy: string): void {
  const at = commonHeaders.indexOf('Content-Security-Policy');
  if (at === -1) commonHeaders.push('Content-Security-Policy', policy);
  else commonHeaders[at + 1] = policy;
}

/** Returns the origin. Throws misdirected_request for a host name that is not among `sessions.origins`. */
export function servedOrigin({ originOf }: SessionDeps, exchange: Forwardable): ServedOrigin {
  const served = originOf(exchange);
  if (served === undefined) throw new GatewayError('misdirected_request');
  return served;
}

function answer(status: number, type: string, text: string): SessionAnswer {
  const body = Buffer.from(text);
  const headers = { 'content-type': type, 'content-length': String(body.length), 'cache-control': 'no-store' };
  return { status, headers, body };
}
