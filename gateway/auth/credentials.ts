// The Authorization header, taken apart (RFC 9110 section 11.4): a scheme, which is case-insensitive, and what it carries.

export interface Credentials {
  /** Lower case. */
  readonly scheme: string;
  /** Empty if the header names a scheme and nothing else. */
  readonly value: string;
}

/** Undefined if no credentials were sent at all. */
export function parseAuthorization(header: string | undefined): Credentials | undefined {
  if (header === undefined || header === '') return undefined;
  // Nearly every request has exactly this spelling.
  if (header.startsWith('Bearer ')) return { scheme: 'bearer', value: header.slice(7).trimStart() };
  const space = header.indexOf(' ');
  if (space === -1) return { scheme: header.toLowerCase(), value: '' };
  return { scheme: header.slice(0, space).toLowerCase(), value: header.slice(space + 1).trimStart() };
}
