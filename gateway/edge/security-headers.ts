// Headers of every answer, including answers of upstreams.

/** Returns flat names and values. Adds HSTS only if clients reach `url` over TLS (RFC 6797 section 7.2). */
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
