// The error codes of connections, and of requests that are not HTTP as the gateway requires it.

import { type CatalogueEntry, FAULT_OF_GATEWAY, INVALID_REQUEST } from '../catalogue/catalogue-entry.ts';

export const EDGE_CODES = {
  misdirected_request: {
    ...INVALID_REQUEST,
    needs: 'hosts',
    status: 421,
    message: 'This host name is not served here.',
    meaning: 'This host name is not served here. `host` is the host name of the API.',
    remedy: 'Call the host name that you were given. A proxy in between may have changed it.',
    example: { host: 'api.example.com' },
  },
  uri_too_long: {
    ...INVALID_REQUEST,
    status: 414,
    closes: true,
    message: 'The request target is too long.',
    meaning: 'The path and query are longer than `max_bytes`.',
    remedy: 'Shorten the query, or send fewer values at once.',
    example: { max_bytes: 8192 },
  },
  headers_too_large: {
    ...INVALID_REQUEST,
    status: 431,
    closes: true,
    message: 'The header section is too large.',
    meaning: 'The headers are longer than `max_bytes` or more than `max_lines`.',
    remedy: 'Send fewer or shorter headers. Cookies and trace state are the usual reason.',
    example: { max_bytes: 16_384 },
  },
  expectation_failed: {
    ...INVALID_REQUEST,
    status: 417,
    closes: true,
    message: 'The only supported expectation is 100-continue.',
    meaning: 'An `Expect` header asks for something other than `100-continue`.',
    remedy: 'Leave the `Expect` header out.',
  },
  request_timeout: {
    ...INVALID_REQUEST,
    status: 408,
    retryable: true,
    closes: true,
    message: 'The request did not arrive in time.',
    meaning: 'The request began, but did not arrive completely in time.',
    remedy: 'Retry. If this happens often, check the connection, or send smaller bodies.',
  },
  malformed_http: {
    ...INVALID_REQUEST,
    status: 400,
    closes: true,
    message: 'The request is not well-formed HTTP/1.1.',
    meaning:
      'The message breaks the rules of HTTP/1.1, or could be read in more than one way. The connection is closed.',
    remedy: 'Use an HTTP library, and build neither request line nor headers by hand. Open a new connection.',
  },
  http_version_not_supported: {
    ...INVALID_REQUEST,
    status: 505,
    closes: true,
    message: 'This HTTP version is not supported; HTTP/1.1 is.',
    meaning: 'The request line names a version other than HTTP/1.1 or 1.0.',
    remedy: 'Send the request as HTTP/1.1.',
  },
  malformed_path: {
    ...INVALID_REQUEST,
    status: 400,
    message: 'The path has an invalid escape, an empty or dot segment, or an encoded separator.',
    meaning:
      'The path or query has an invalid escape, an empty or dot segment, an encoded separator, or a character that needs to be escaped.',
    remedy: 'Escape each part of the path and of the query by itself, and join them with single slashes.',
  },
  tls_required: {
    ...INVALID_REQUEST,
    needs: 'plain listener',
    status: 403,
    closes: true,
    message: 'This is served over HTTPS only. Nothing was processed.',
    hints: { credentials: 'The credentials of this request may have been read on their way. Replace them.' },
    meaning:
      'The request came by plain HTTP to a listener that only points at HTTPS. Credentials that were sent in this way have to be replaced.',
    remedy: 'Call the same address with `https://`. If a key went over the wire in the clear, have it replaced.',
  },
  gateway_shutting_down: {
    ...FAULT_OF_GATEWAY,
    status: 503,
    retryAfterSeconds: 1,
    closes: true,
    message: 'This gateway is being restarted. Nothing was processed.',
    meaning: 'This instance of the gateway is being stopped. Nothing was processed.',
    remedy: 'Retry at once, on a new connection. Another instance answers it.',
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
