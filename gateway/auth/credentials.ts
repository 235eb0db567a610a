// Parses the Authorization header (RFC 9110 section 11.4) into a scheme, which is case-insensitive, and its value.

export interface Credentials {
  /** In lower case. */
  readonly scheme: string;
  /** Empty if the header contains only a scheme. */
  readonly value: string;
}

/** Returns undefined if the request carries no credentials. */
export function parseAuthorization(header: string | undefined): Credentials | undefined {
  if (header === undefined || header === '') return undefined;
  // Nearly every request uses exactly this spelling.
  if (header.startsWith('Bearer ')) return { scheme: 'bearer', value: header.slice(7).trimStart() };
  const space = header.indexOf(' ');
  if (space === -1) return { scheme: header.toLowerCase(), value: '' };
  return { scheme: header.slice(0, space).toLowerCase(), value: header.slice(space + 1).trimStart() };
}
