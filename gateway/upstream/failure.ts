// Maps errors of connections and of the upstream's HTTP to codes of the catalogue.

import type { ErrorCode } from '../error-catalogue.ts';
import { GatewayError } from '../errors.ts';

/** Error codes of Node, and of our own client (WIRE_*) → code and Proxy-Status error type (RFC 9209 section 2.3). */
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

/** Maps an error of the connection or of the upstream's HTTP. An unknown error is a bad response, because the upstream caused it. */
export function toUpstreamFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = codeOf(error);
  const known = failures[code];
  if (known) return upstreamFailure(known[0], known[1], error);
  if (tlsProblem.test(code)) return upstreamFailure('upstream_unreachable', 'tls_protocol_error', error);
  return upstreamFailure('upstream_bad_response', 'http_protocol_error', error);
}

/** Errors that mean a failed or lost connection. They do not say whether the request was processed. */
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

/** True if the connection failed, false if the bytes on it were invalid. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return losses.has(code) || tlsProblem.test(code);
}

/** The failure of a request that was never sent: it was not processed, whatever ended the connection. */
export function toUnsentFailure(error: unknown): GatewayError {
  const failure = toUpstreamFailure(error);
  if (failure.code !== 'upstream_bad_response' || !isConnectionLost(error)) return failure;
  return upstreamFailure('upstream_unreachable', 'connection_terminated', error);
}

/** A refusal with a Proxy-Status header, which says that the gateway made it and not the service (RFC 9209). */
export function upstreamFailure(code: ErrorCode, proxyError: string, cause?: unknown): GatewayError {
  return new GatewayError(code, { cause, headers: { 'Proxy-Status': `api-gateway; error=${proxyError}` } });
}

/**
 * TLS alerts of a server that refuses the client. With TLS 1.3 they arrive after the client's handshake has ended, when the request is
 * already sent.
 */
const tlsRefusal = /CERTIFICATE|UNKNOWN_CA|HANDSHAKE|ACCESS_DENIED|PROTOCOL_VERSION|UNRECOGNIZED_NAME/;

/** The failure of a request that was sent: after a lost connection the request may have been processed. */
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
