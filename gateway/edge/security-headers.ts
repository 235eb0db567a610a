// Headers that every answer of the gateway carries, whoever made it.

/** Flat names and values. HSTS only where clients reach the gateway over TLS (RFC 6797 section 7.2), to `url`. */
export function securityHeadersFor(url: string): readonly string[] {
  const headers = [
    'X-Content-Type-Options',
    'nosniff',
    'Content-Security-Policy',
    "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy',
    'no-referrer',
  ];
  if (url.startsWith('https:')) headers.push('Strict-Transport-Security', 'max-age=31536000');
  return Object.freeze(headers);
}
