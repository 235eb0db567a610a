// Passes cookies between client and upstream, but only cookies that the entry of the upstream names. The attributes that the service sets
// are changed to fit the public host. Pure.

import type { CookieRules, Operation } from '../../exchange/operation.ts';

/** The parts of an exchange from which its cookies are made. */
interface CookieContext extends Pick<Operation, 'publicPrefix' | 'upstreamPrefix'> {
  /** The Host header of the request. */
  readonly host: string | undefined;
  /** Scheme of the public address. */
  readonly scheme: string;
}

/**
 * Returns the Cookie header for the upstream; undefined if no named cookie was sent. If the client sent several cookies of one name, only
 * the first is passed on, because it is the cookie that was checked, and the most specific one (RFC 6265 section 5.4).
 */
export function upstreamCookies(given: string, { names }: CookieRules): string | undefined {
  const kept = new Map<string, string>();
  for (const pair of given.split(';')) {
    const name = nameOf(pair);
    if (name !== undefined && names.has(name) && !kept.has(name)) kept.set(name, pair.trim());
  }
  return kept.size === 0 ? undefined : [...kept.values()].join('; ');
}

/** Returns the declared cookies of the client that are not passed on, as the log names them; undefined if there are none. */
export function withheldCookies(given: string | undefined, { withheld }: CookieRules): readonly string[] | undefined {
  if (given === undefined || withheld.length === 0) return undefined;
  const sent = new Set(given.split(';').map(nameOf));
  const notSent = withheld.filter((name) => sent.has(name));
  return notSent.length === 0 ? undefined : notSent.map((name) => `cookie: ${name}`);
}

/** Returns the name in `name=value; …`; undefined if the text has no name. */
function nameOf(pair: string): string | undefined {
  const equals = pair.indexOf('=');
  return equals === -1 ? undefined : pair.slice(0, equals).trim();
}

/** Returns the name of the cookie in a Set-Cookie line, in a form that the log may repeat. */
export function cookieNameIn(line: string): string {
  const name = nameOf(line.split(';', 1)[0] as string) ?? '';
  return /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name) ? name : '*';
}

/**
 * Returns a Set-Cookie line for clients: without a Domain that does not fit the public host, with the public Path, and Secure if clients
 * use https.
 *
 * @returns undefined if the cookie is not named, or belongs to a path that clients cannot reach
 */
export function clientCookie(line: string, { names }: CookieRules, context: CookieContext): string | undefined {
  const [pair = '', ...attributes] = line.split(';');
  const name = nameOf(pair);
  if (name === undefined || !names.has(name)) return undefined;
  const kept = [pair.trim()];
  let isSecure = false;
  for (const attribute of attributes) {
    const text = attribute.trim();
    const key = (nameOf(text) ?? text).toLowerCase();
    const value = text.slice(text.indexOf('=') + 1).trim();
    if (key === 'secure') isSecure = true;
    if (key === 'domain') {
      if (coversHost(value, context.host)) kept.push(text);
    } else if (key === 'path' && !name.startsWith('__Host-')) {
      const path = publicCookiePath(value, context);
      if (path === undefined) return undefined;
      kept.push(`Path=${path}`);
    } else if (text !== '') kept.push(text);
  }
  if (!isSecure && context.scheme === 'https') kept.push('Secure');
  return kept.join('; ');
}

/** Whether a Domain attribute covers the host that the client called (RFC 6265 section 5.1.3). Addresses and `localhost` have no domain. */
function coversHost(domain: string, host: string | undefined): boolean {
  const wanted = domain.replace(/^\./, '').toLowerCase();
  const called = host?.replace(/:\d+$/, '').toLowerCase() ?? '';
  return wanted.includes('.') && !/^[\d.]+$/.test(called) && (called === wanted || called.endsWith(`.${wanted}`));
}

/** Translates the path of a cookie from the upstream's paths to the public paths. A cookie for the whole service gets the public prefix. */
function publicCookiePath(path: string, { publicPrefix, upstreamPrefix }: CookieContext): string | undefined {
  if (publicPrefix === upstreamPrefix || !path.startsWith('/')) return path;
  const base = path.replace(/\/+$/, '');
  if (base === upstreamPrefix || base.startsWith(`${upstreamPrefix}/`))
    return publicPrefix + path.slice(upstreamPrefix.length) || '/';
  return upstreamPrefix.startsWith(`${base}/`) ? publicPrefix || '/' : undefined;
}
