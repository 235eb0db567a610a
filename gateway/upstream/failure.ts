// What can go wrong on the way to an upstream → a code of the catalogue, by table.

import { type ErrorCode, GatewayError } from '../errors.ts';

/** Node and TLS codes, and our own of the connection; the Proxy-Status error types are those of RFC 9209 section 2.3. */
const failures: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ECONNREFUSED: ['upstream_unreachable', 'connection_refused'],
  EHOSTUNREACH: ['upstream_unreachable', 'destination_ip_unroutable'],
  ENETUNREACH: ['upstream_unreachable', 'destination_ip_unroutable'],
  ENOENT: ['upstream_unreachable', 'destination_unavailable'],
  ENOTFOUND: ['upstream_unreachable', 'dns_error'],
  EAI_AGAIN: ['upstream_timeout', 'dns_timeout'],
  ETIMEDOUT: ['upstream_timeout', 'connection_timeout'],
  WIRE_CONNECT_TIMEOUT: ['upstream_timeout', 'connection_timeout'],
  ECONNRESET: ['upstream_bad_response', 'connection_terminated'],
  EPIPE: ['upstream_bad_response', 'connection_terminated'],
  WIRE_INCOMPLETE: ['upstream_bad_response', 'http_response_incomplete'],
  WIRE_HEAD_TOO_LARGE: ['upstream_bad_response', 'http_response_header_section_size'],
};

const tlsProblem = /^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO)/;

/** Translates an error of the connection or of the upstream's HTTP. Anything unknown is a bad response: it came from there. */
export function toUpstreamFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = codeOf(error);
  const known = failures[code];
  if (known) return upstreamFailure(known[0], known[1], error);
  if (tlsProblem.test(code)) return upstreamFailure('upstream_unreachable', 'tls_protocol_error', error);
  return upstreamFailure('upstream_bad_response', 'http_protocol_error', error);
}

/** Where a connection could not be made, or ended before its time: what happened to the request on it is not known from that alone. */
const losses = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
]);
for (const code of ['WIRE_CONNECT_TIMEOUT', 'WIRE_INCOMPLETE', 'ECONNRESET', 'EPIPE']) losses.add(code);

/** Whether the connection failed, rather than what came over it. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return losses.has(code) || tlsProblem.test(code);
}

/** What became of a request that was never sent: whatever ended the connection, nothing was processed. */
export function toUnsentFailure(error: unknown): GatewayError {
  const failure = toUpstreamFailure(error);
  if (failure.code !== 'upstream_bad_response' || !isConnectionLost(error)) return failure;
  return upstreamFailure('upstream_unreachable', 'connection_terminated', error);
}

/** A refusal that tells operators that the gateway, not the service, made it (RFC 9209). */
export function upstreamFailure(code: ErrorCode, proxyError: string, cause?: unknown): GatewayError {
  return new GatewayError(code, { cause, headers: { 'Proxy-Status': `api-gateway; error=${proxyError}` } });
}

/** A TLS handshake ends after the client's side of it: a server that refuses the client tells so when the request is on its way already. */
const tlsRefusal = /CERTIFICATE|UNKNOWN_CA|HANDSHAKE|ACCESS_DENIED|PROTOCOL_VERSION|UNRECOGNIZED_NAME/;

/** What became of a request that was sent: an end of the connection does not say that it was not processed. */
export function toSentFailure(error: unknown): GatewayError {
  const failure = toUpstreamFailure(error);
  if (failure === error || failure.code !== 'upstream_unreachable' || tlsRefusal.test(codeOf(error))) return failure;
  return upstreamFailure('upstream_bad_response', 'connection_terminated', error);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  // Connecting to a name with several addresses fails with one error that holds one per address.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return String((error as NodeJS.ErrnoException).code ?? '');
}
