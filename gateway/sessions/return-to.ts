// Where a person gets to after a login: a path of the same origin, and nothing that a browser would take for another address. Pure.

const LENGTH_MAX = 1024;
/** Visible ASCII without the backslash, which browsers read as a slash. A browser drops tabs and line ends before it parses an address. */
const PATH = /^\/(?!\/)[!-[\]-~]*$/;

/**
 * Returns the path, query and fragment as a browser would resolve them; undefined for anything else. The browser gets what the parser
 * has written, so that the two cannot disagree.
 *
 * @param origin the origin whose page it is
 */
export function returnPathOf(text: string, origin: string): string | undefined {
  if (text.length > LENGTH_MAX || !PATH.test(text) || !URL.canParse(text, origin)) return undefined;
  const url = new URL(text, origin);
  const path = url.pathname + url.search + url.hash;
  // Dot segments may leave two slashes at the beginning: `/.//evil.example`.
  if (url.origin !== origin || path.startsWith('//')) return undefined;
  // Paths below /session are refused, because they would lead back to a login again and again.
  return url.pathname === '/session' || url.pathname.startsWith('/session/') ? undefined : path;
}
