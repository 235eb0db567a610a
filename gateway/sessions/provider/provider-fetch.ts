// Sends the requests to a provider: only to its own origins, without redirects, within a deadline, and with answers of bounded length. Also
// reads why a request has failed.

import { boundedFetch, type SentOptions } from '../../shared/http/bounded-fetch.ts';

const BODY_BYTES_MAX = 262_144;

/** Failures to connect. After them, nothing was sent. */
const UNSENT: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'ERR_TLS_CERT_ALTNAME_INVALID'],
]);

/** The provider did not answer, or its answer says nothing about the request, as with 503. The message is a reason for operators. */
export class ProviderAway extends Error {
  /** Whether the provider may have executed the request. */
  readonly executed: 'no' | 'unknown';

  constructor(reason: string, executed: 'no' | 'unknown', cause?: unknown) {
    super(reason, { cause });
    this.executed = executed;
  }
}

/**
 * Sends a request with the options that the libraries set. Their `signal` is left out. After the process was paused, for example with its
 * machine, the timers of the libraries fire first, and would abort a request whose answer has already arrived.
 */
export type ProviderFetch = (url: string, request: SentOptions) => Promise<Response>;

/**
 * Returns a fetch that rejects with ProviderAway for other origins, failures of the connection, redirects, 429, and statuses of 500 and
 * more.
 *
 * @param origins the only origins to which requests are sent
 */
export function createProviderFetch(origins: ReadonlySet<string>, timeoutMs: number): ProviderFetch {
  return async function fetchFrom(url, { method, headers, body }) {
    const { origin } = new URL(url);
    if (!origins.has(origin))
      throw new ProviderAway(`it names an endpoint at ${origin}, which is not in endpointOrigins`, 'no');
    let refusedBy: number | undefined;
    try {
      const answer = await boundedFetch(url, {
        method,
        headers,
        body,
        timeoutMs,
        bytesMax: BODY_BYTES_MAX,
        faultOf({ status }) {
          if (status !== 429 && status < 500 && (status < 300 || status >= 400)) return undefined;
          refusedBy = status;
          return `it answered with status ${status}`;
        },
      });
      const isEmpty = answer.status === 204 || answer.status === 205;
      return new Response(isEmpty ? null : answer.body, answer);
    } catch (error) {
      const { message, cause } = error as Error;
      const isUnsent = UNSENT.has(message) || refusedBy === 429 || refusedBy === 503;
      throw new ProviderAway(message, isUnsent ? 'no' : 'unknown', cause);
    }
  };
}

/** Finds a ProviderAway among an error and its causes, because libraries wrap errors. */
export function awayIn(thrown: unknown): ProviderAway | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1) {
    if (error instanceof ProviderAway) return error;
  }
  return undefined;
}

/** Returns the code of an OAuth error (RFC 6749 section 5.2), from the body, or from the challenge to a client that is refused. */
export function oauthCodeIn(thrown: unknown): string | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1) {
    const { error: code, status } = error as { error?: unknown; status?: unknown };
    if (typeof code === 'string') return code;
    if (status === 401) return 'invalid_client';
  }
  return undefined;
}

/** Whether a login failed because the provider has sent the browser back with an error (RFC 6749 section 4.1.2.1). */
export function isRefusedLogin(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown as NodeJS.ErrnoException).code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR';
}

/** Returns the reason of a failure, for operators. */
export function providerReason(error: unknown): string {
  const away = awayIn(error);
  if (away !== undefined) return away.message;
  return oauthCodeIn(error) ?? (error instanceof Error ? error.message : String(error));
}
