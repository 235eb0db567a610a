// Pure: decides whether a request that carries a session cookie was made by a page of the platform itself (RFC 10017). GET and HEAD are
// decided like other methods, because a WebSocket begins with a GET, and because pages of other sites have no reason to send one.

export interface CrossSiteRules {
  readonly origins: ReadonlySet<string>;
  /** A header that pages have to send with the value 1; undefined if there is none. */
  readonly requestHeader: string | undefined;
}

/** The parts of a request that say who made it. */
interface RequestOrigin {
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
}

/**
 * Whether the request must be refused, because its headers say that a page of another site made it, or because they do not say which page
 * made it.
 */
export function isCrossSite({ method, headers }: RequestOrigin, { origins, requestHeader }: CrossSiteRules): boolean {
  const site = headers.get('sec-fetch-site');
  if (!isOwnRequest(site, method, headers, origins)) return true;
  if (requestHeader === undefined || headers.get(requestHeader) === '1') return false;
  return !cannotSendHeaders(site, headers);
}

/**
 * If the request has `Sec-Fetch-Site`, this header decides, because scripts cannot write it. `same-site` means another origin, such as a
 * subdomain of another owner. `none` means that a person opened an address, which changes nothing.
 */
function isOwnRequest(
  site: string | undefined,
  method: string,
  headers: ReadonlyMap<string, string>,
  origins: ReadonlySet<string>,
): boolean {
  if (site === 'same-origin') return true;
  if (site === 'none') return (method === 'GET' || method === 'HEAD') && headers.get('sec-fetch-mode') === 'navigate';
  if (site !== undefined) return false;
  const origin = headers.get('origin');
  return origin !== undefined && origins.has(origin);
}

/** Whether the page could not add a header, because it opened a WebSocket, an event stream or another page. */
function cannotSendHeaders(site: string | undefined, headers: ReadonlyMap<string, string>): boolean {
  if (site === 'none' || headers.get('sec-fetch-mode') === 'navigate') return true;
  return headers.get('upgrade') !== undefined || headers.get('accept') === 'text/event-stream';
}
