// Parses the Idempotency-Key header, which is a quoted string (draft-ietf-httpapi-idempotency-key-header-07), or bare text, as most clients
// send it.

/** A string of RFC 9651 section 3.3.3. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/** Returns the key, which is the same for both forms; undefined unless it has 1 to 255 visible ASCII characters. */
export function parseIdempotencyKey(header: string): string | undefined {
  const text = header.startsWith('"') ? QUOTED.exec(header)?.[1]?.replaceAll(/\\(["\\])/g, '$1') : header;
  return text !== undefined && /^[\x21-\x7e]{1,255}$/.test(text) ? text : undefined;
}
