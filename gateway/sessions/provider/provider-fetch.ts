// The requests to a provider: to its own origins only, without redirects, within a deadline, and with answers of bounded length.

import { startDeadline } from '../../shared/deadline.ts';
import { boundedBody } from '../../shared/http/bounded-body.ts';

const BODY_BYTES_MAX = 262_144;

/** Failures of a connection that was not made: nothing was sent. */
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
 * The options of `fetch` that the libraries set and that are used here. `signal` is left out: if the process stood still, for example with
 * its machine, the timers of the libraries fire first, and would abort a request whose answer has already arrived.
 */
interface ProviderRequest {
  readonly method?: string;
  readonly headers?: RequestInit['headers'] | undefined;
  readonly body?: RequestInit['body'] | undefined;
}

export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>;

/**
 * Returns a fetch that rejects with ProviderAway for other origins, failures of the connection, 429, and statuses of 500 and more.
 *
 * @param origins the only ones that requests go to
 */
export function createProviderFetch(origins: ReadonlySet<string>, timeoutMs: number): ProviderFetch {
  return async function fetchFrom(url, { method, headers, body }) {
    const { origin } = new URL(url);
    if (!origins.has(origin))
      throw new ProviderAway(`it names an endpoint at ${origin}, which is not in endpointOrigins`, 'no');
    const over = new AbortController();
    const deadline = startDeadline(timeoutMs, () => over.abort(new DOMException('overdue', 'TimeoutError')));
    try {
      const answer = await fetch(url, {
        redirect: 'manual',
        signal: over.signal,
        ...(method !== undefined && { method }),
        ...(headers !== undefined && { headers }),
        ...(body !== undefined && { body }),
      });
      return await bounded(answer);
    } catch (cause) {
      if (cause instanceof ProviderAway) throw cause;
      const reason = providerReason(cause);
      throw new ProviderAway(reason, UNSENT.has(reason) ? 'no' : 'unknown', cause);
    } finally {
      deadline.stop();
    }
  };
}

/** Reads the whole answer within a bound, because the libraries would read a body of any length. */
async function bounded({ status, headers, body }: Response): Promise<Response> {
  if (status === 429 || status >= 500 || (status >= 300 && status < 400)) {
    await body?.cancel();
    throw new ProviderAway(`it answered with status ${status}`, status === 429 || status === 503 ? 'no' : 'unknown');
  }
  const bytes = await boundedBody({ body }, BODY_BYTES_MAX);
  if (bytes === undefined) throw new ProviderAway(`its answer is longer than ${BODY_BYTES_MAX} bytes`, 'unknown');
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : new Uint8Array(bytes), { status, headers });
}

/** The errors of fetch say "fetch failed" and carry the reason as their cause. */
function providerReason(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.name === 'TimeoutError') return 'it did not answer in time';
  const { code, message } = (thrown.cause ?? thrown) as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : message;
}

/** Finds a ProviderAway among an error and its causes: libraries wrap errors. */
export function awayIn(thrown: unknown): ProviderAway | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1) {
    if (error instanceof ProviderAway) return error;
  }
  return undefined;
}
