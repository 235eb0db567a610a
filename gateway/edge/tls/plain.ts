// The plain HTTP listener beside the TLS listener. It answers only challenges of certificate authorities, and redirects only requests
// without credentials. Throws tls_required, the errors of the admit stage, and the errors of a tunnel.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Admitted, Arrived } from '../../exchange/exchange.ts';
import { hostNameIn } from '../admission/sites.ts';

interface PlainOptions {
  readonly mode: 'redirect' | 'refuse';
  readonly publicUrl: string;
  /** Other host names that are served. */
  readonly hosts: readonly string[];
  admit(arrived: Arrived): Admitted;
  /** Answers a challenge that the gateway itself has caused. Resolves with whether it answered; returns false at once for other paths. */
  answerChallenge(admitted: Admitted): false | Promise<boolean>;
  /** Forwards a request without credentials, if its path belongs to a tunnel that the plain listener serves, too. */
  passThrough(admitted: Admitted): Promise<void> | undefined;
}

/**
 * Handles every request of the listener. Challenges are answered. GET and HEAD without credentials are redirected to the same URL by HTTPS.
 * All others are refused.
 */
export function createPlain(options: PlainOptions): (arrived: Arrived) => Promise<void> {
  const locate = createLocate(options.publicUrl, options.hosts);

  return async function answerPlain(arrived) {
    const admitted = options.admit(arrived);
    const { response, trail, commonHeaders, method } = admitted;
    if (showsCredentials(admitted)) throw new GatewayError('tls_required', { hint: 'credentials' });
    if (await options.answerChallenge(admitted)) return;
    const isRead = method === 'GET' || method === 'HEAD';
    const passed = isRead ? options.passThrough(admitted) : undefined;
    if (passed !== undefined) return passed;
    if (options.mode === 'refuse' || !isRead) throw new GatewayError('tls_required');
    trail.status = 308;
    const framing = ['Location', locate(admitted), 'Cache-Control', 'no-store', 'Content-Length', '0'];
    response.writeHead(308, [...commonHeaders, ...framing]);
    response.end();
  };
}

/**
 * Whether the request has credentials. Such a request is not redirected, because its credentials have crossed the network in the clear, and
 * a redirected client would not notice and do it again.
 */
function showsCredentials({ headers, query }: Admitted): boolean {
  return headers.has('authorization') || headers.has('cookie') || /(^|[=&])sk_(live|test)_/.test(query);
}

/** Builds the URL with a known host name, not with the Host of the request, so that no client is redirected to a foreign host. */
function createLocate(publicUrl: string, hosts: readonly string[]): (admitted: Admitted) => string {
  const { hostname, port } = new URL(publicUrl);
  const known = new Set([hostname, ...hosts]);
  const suffix = port === '' ? '' : `:${port}`;

  return function locate({ headers, path, query }) {
    const requested = hostNameIn(headers.get('host') ?? '');
    const name = known.has(requested) ? requested : hostname;
    return `https://${name}${suffix}${path}${query === '' ? '' : `?${query}`}`;
  };
}
