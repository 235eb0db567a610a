// The names of the cookies of browser sessions. Only the gateway uses these cookies, so no upstream gets one, and no upstream may set one.

/**
 * Browsers accept a cookie of this prefix only if it is Secure, HttpOnly, without Domain, for `/`, and set by a header, so that neither a
 * script nor a subdomain can plant one. Older browsers treat the prefix as `__Host-`, which lacks only the HttpOnly rule.
 */
const SECURE_PREFIX = '__Host-Http-';
const SESSION = 'gateway-session';
const LOGIN = 'gateway-login-';

const OWN = new RegExp(`^(?:${SECURE_PREFIX})?(?:${SESSION}$|${LOGIN})`);

/** Returns the name of the session cookie. @param isSecure whether clients use https; otherwise a browser refuses the prefix */
export function sessionCookieName(isSecure: boolean): string {
  return isSecure ? SECURE_PREFIX + SESSION : SESSION;
}

/** Returns the beginning of the names of cookies for logins in progress. */
export function loginCookiePrefix(isSecure: boolean): string {
  return isSecure ? SECURE_PREFIX + LOGIN : LOGIN;
}

export function isSessionCookieName(name: string): boolean {
  return OWN.test(name);
}

/**
 * Returns a Cookie header without the cookies of sessions; undefined if no cookie is left. Returns the same text if it contains no cookie
 * of a session.
 */
export function withoutSessionCookies(header: string): string | undefined {
  if (!header.includes(SESSION) && !header.includes(LOGIN)) return header;
  const kept = header.split(';').filter((pair) => !isSessionCookieName(cookieNameOf(pair)));
  return kept.length === 0 ? undefined : kept.join(';').trim();
}

/**
 * Whether a Set-Cookie line would set a cookie of a session. Browsers that do not know the prefix rule store `=name=value` like
 * `name=value`.
 */
export function setsSessionCookie(line: string): boolean {
  return isSessionCookieName(cookieNameOf(line.replace(/^[\s=]+/, '')));
}

/** Returns the name at the beginning of a text such as `name=value; …`. */
export function cookieNameOf(pair: string): string {
  const equals = pair.indexOf('=');
  return (equals === -1 ? pair : pair.slice(0, equals)).trim();
}
