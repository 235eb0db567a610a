// Maps errors of connections and of the upstream's HTTP to codes of the catalogue for clients, and to texts for operators.

import { type ErrorCode, GatewayError } from './errors.ts';

/** Every other code of the table below means a failed or lost connection. */
const HEAD_TOO_LARGE = 'WIRE_HEAD_TOO_LARGE';

/** Maps error codes of Node and of the gateway's client (WIRE_*) to a code and a Proxy-Status error type (RFC 9209 section 2.3). */
const FAILURES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
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
  [HEAD_TOO_LARGE]: ['upstream_bad_response', 'http_response_header_section_size'],
};

const TLS_PROBLEM = /^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO)/;
const TLS_FAILURE = ['upstream_unreachable', 'tls_protocol_error'] as const;
const UNKNOWN_FAILURE = ['upstream_bad_response', 'http_protocol_error'] as const;

/**
 * TLS alerts of a server that refuses the client. With TLS 1.3 they arrive after the client's handshake has ended, when the request is
 * already sent.
 */
const TLS_REFUSAL = /CERTIFICATE|UNKNOWN_CA|HANDSHAKE|ACCESS_DENIED|PROTOCOL_VERSION|UNRECOGNIZED_NAME/;

/**
 * Maps an error of the connection or of the upstream's HTTP. An unknown error is a bad response, because the upstream caused it.
 *
 * @param wasSent whether a byte of the request may have been sent, so that the upstream may have processed the request if the connection
 * was lost; undefined if that does not matter
 */
export function toUpstreamFailure(error: unknown, wasSent?: boolean): GatewayError {
  if (error instanceof GatewayError) return error;
  const cause = codeOf(error);
  const [code, proxyError] = FAILURES[cause] ?? (TLS_PROBLEM.test(cause) ? TLS_FAILURE : UNKNOWN_FAILURE);
  if (wasSent === false && code === 'upstream_bad_response' && isConnectionLost(error))
    return upstreamFailure('upstream_unreachable', 'connection_terminated', error);
  if (wasSent === true && code === 'upstream_unreachable' && !TLS_REFUSAL.test(cause))
    return upstreamFailure('upstream_bad_response', 'connection_terminated', error);
  return upstreamFailure(code, proxyError, error);
}

/**
 * Whether the connection failed; false if the bytes on it were invalid. The result does not say whether the upstream processed the request.
 */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return (Object.hasOwn(FAILURES, code) && code !== HEAD_TOO_LARGE) || TLS_PROBLEM.test(code);
}

/** Creates a refusal with a Proxy-Status header, which says that the gateway made it and not the service (RFC 9209). */
export function upstreamFailure(code: ErrorCode, proxyError: string, cause?: unknown): GatewayError {
  return new GatewayError(code, { cause, headers: { 'Proxy-Status': `api-gateway; error=${proxyError}` } });
}

function codeOf(error: unknown): string {
  const first = firstOf(error);
  return first instanceof Error ? String((first as NodeJS.ErrnoException).code ?? '') : '';
}

/** Returns the first error. If a name has several addresses, connecting fails with an error that contains one for each. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError ? error.errors[0] : error;
}

/** The status of an answer that is counted as a failure, or the error that ended the attempt. */
export type SendingFailure = number | Error;

/**
 * Returns a text for the log and /status, such as `ECONNREFUSED 10.0.0.7:8080` or `status 503`. Clients never see it, because it names
 * addresses.
 */
export function failureText(failure: SendingFailure): string {
  if (typeof failure === 'number') return `status ${failure}`;
  if (failure instanceof GatewayError)
    return failure.cause instanceof Error ? failureText(failure.cause) : proxyError(failure);
  const first = firstOf(failure);
  if (first !== failure && first instanceof Error) return failureText(first);
  const { code, message, address, port, hostname } = failure as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
    readonly hostname?: string;
  };
  if (code === undefined) return message;
  if (address !== undefined) return port === undefined ? `${code} ${address}` : `${code} ${address}:${port}`;
  return hostname === undefined ? `${code} (${message})` : `${code} ${hostname}`;
}

/** Returns the error type of RFC 9209 if one is set, such as `http_response_timeout`; otherwise the error code. */
function proxyError({ code, details }: GatewayError): string {
  return /error=(\w+)/.exec(details.headers?.['Proxy-Status'] ?? '')?.[1] ?? code;
}
