// Pure: checks the path to which a person returns after a login. It must be a path of the same origin, which no browser reads as another
// address.

const LENGTH_MAX = 1024;
/** Visible ASCII without the backslash, which browsers read as a slash. A browser drops tabs and line ends before it parses an address. */
const PATH = /^\/(?!\/)[!-[\]-~]*$/;

/**
 * Returns the path with query and fragment, as a browser resolves them. Returns undefined for any other text. The result is the text of the
 * parser, because a browser could read the original text in another way.
 *
 * @param origin the origin of the page
 */
export function returnPathOf(text: string, origin: string): string | undefined {
  if (text.length > LENGTH_MAX || !PATH.test(text) || !URL.canParse(text, origin)) return undefined;
  const url = new URL(text, origin);
  const path = url.pathname + url.search + url.hash;
  // Dot segments may leave two slashes at the beginning: `/.//evil.example`.
  if (url.origin !== origin || path.startsWith('//')) return undefined;
  // Paths below /session are refused, because they would lead back to a login repeatedly.
  return url.pathname === '/session' || url.pathname.startsWith('/session/') ? undefined : path;
}
