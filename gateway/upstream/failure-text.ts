// Describes the failure of an attempt for operators: the system's error code and address, or the status of the answer.

import { GatewayError } from '../errors.ts';

/** Status of an answer that counts as a failure, or the error that ended the attempt. */
export type SendingFailure = number | Error;

/** For the log and /status, for instance `ECONNREFUSED 10.0.0.7:8080` or `status 503`. Never shown to clients: it names addresses. */
export function failureText(failure: SendingFailure): string {
  if (typeof failure === 'number') return `status ${failure}`;
  if (failure instanceof GatewayError)
    return failure.cause instanceof Error ? failureText(failure.cause) : proxyError(failure);
  // Connecting to a name with several addresses fails with one error that holds one per address.
  if (failure instanceof AggregateError && failure.errors[0] instanceof Error) return failureText(failure.errors[0]);
  const { code, message, address, port, hostname } = failure as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
    readonly hostname?: string;
  };
  if (code === undefined) return message;
  if (address !== undefined) return port === undefined ? `${code} ${address}` : `${code} ${address}:${port}`;
  return hostname === undefined ? `${code} (${message})` : `${code} ${hostname}`;
}

/** The error type of RFC 9209 if one is set, such as `http_response_timeout`; else the error code. */
function proxyError({ code, details }: GatewayError): string {
  return /error=(\w+)/.exec(details.headers?.['Proxy-Status'] ?? '')?.[1] ?? code;
}
