// The listener without TLS beside the one that has it: nothing is served here, and no credentials are sent on their way a second time.
// Throws tls_required, and what admit throws.

import { GatewayError } from '../../errors.ts';
import type { Admitted, Arrived } from '../../exchange.ts';

export interface PlainOptions {
  readonly mode: 'redirect' | 'refuse';
  readonly publicUrl: string;
  /** Further host names that are served. */
  readonly hosts: readonly string[];
  admit(arrived: Arrived): Admitted;
}

/** Every request on that listener: sent to the same place by HTTPS if it merely reads and shows no credentials, else refused. */
export function createPlain(options: PlainOptions): (arrived: Arrived) => Promise<void> {
  const locate = createLocate(options.publicUrl, options.hosts);

  return async function answerPlain(arrived) {
    const admitted = options.admit(arrived);
    const { response, trail, carried, method } = admitted;
    if (showsCredentials(admitted)) throw new GatewayError('tls_required', { hint: 'credentials' });
    if (options.mode === 'refuse' || (method !== 'GET' && method !== 'HEAD')) throw new GatewayError('tls_required');
    trail.status = 308;
    const framing = ['Location', locate(admitted), 'Cache-Control', 'no-store', 'Content-Length', '0'];
    response.writeHead(308, [...carried, ...framing]);
    response.end();
  };
}

/** Whoever knows these has read them on the way by now: a client that is helped along goes on sending them. */
function showsCredentials({ headers, query }: Admitted): boolean {
  return headers.has('authorization') || headers.has('cookie') || /(^|[=&])sk_(live|test)_/.test(query);
}

/** To a host that is known to be ours, whatever Host says: nobody is sent elsewhere. */
function createLocate(publicUrl: string, hosts: readonly string[]): (admitted: Admitted) => string {
  const { hostname, port } = new URL(publicUrl);
  const known = new Set([hostname, ...hosts]);
  const suffix = port === '' ? '' : `:${port}`;

  return function locate({ headers, path, query }) {
    const asked = (headers.get('host') ?? '').replace(/:\d*$/, '').toLowerCase().replace(/\.$/, '');
    const name = known.has(asked) ? asked : hostname;
    return `https://${name}${suffix}${path}${query === '' ? '' : `?${query}`}`;
  };
}
