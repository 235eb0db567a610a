// The origins whose pages use sessions, by the Host header of a request. Pure.

export interface ServedOrigin {
  readonly origin: string;
  /** Whether clients reach the origin over https. Its cookies then have a prefix that browsers protect. */
  readonly isSecure: boolean;
}

export type OriginOf = (request: {
  readonly headers: ReadonlyMap<string, string>;
  readonly scheme: string;
}) => ServedOrigin | undefined;

/** Returns the origin that a request was sent to; undefined if sessions are not used there. */
export function createOriginOf(origins: readonly string[]): OriginOf {
  const served = origins.map((origin) => ({
    origin,
    host: new URL(origin).host,
    isSecure: origin.startsWith('https:'),
  }));
  let usual: string | undefined;
  let usualScheme: string | undefined;
  let found: ServedOrigin | undefined;
  return function originOf({ headers, scheme }) {
    const host = headers.get('host');
    // Most requests are for the same host as the previous request.
    if (host !== usual || scheme !== usualScheme) {
      usual = host;
      usualScheme = scheme;
      const named = served.filter((one) => one.host === withoutDefaultPort(host, one.isSecure));
      // A proxy may have terminated TLS without saying so, so the only origin of this host is meant.
      found = named.find(({ isSecure }) => isSecure === (scheme === 'https')) ?? named[0];
    }
    return found;
  };
}

function withoutDefaultPort(host: string | undefined, isSecure: boolean): string | undefined {
  return host?.toLowerCase().replace(isSecure ? /:443$/ : /:80$/, '');
}
