// Sends requests by `fetch`, and reads whole answers within a deadline and a bound. `fetch` itself waits forever, and reads bodies of any
// length, even if they grow by decompression. It trusts the authorities of Node and of NODE_EXTRA_CA_CERTS. The setting `tls` of an
// upstream applies only to the targets of this upstream.

import { startDeadline } from '../deadline.ts';

/** The options of `fetch` that describe the request. */
export type SentOptions = Pick<{ [K in keyof RequestInit]: RequestInit[K] | undefined }, 'method' | 'headers' | 'body'>;

interface BoundedRequest extends SentOptions {
  /** The deadline of the whole answer. */
  readonly timeoutMs: number;
  /** Aborts the request before its deadline. */
  readonly signal?: AbortSignal;
  /** Longest body that is read. */
  readonly bytesMax: number;
  /** Returns why an answer is not usable, as a reason for operators; undefined if its body shall be read. */
  faultOf(answer: Response): string | undefined;
}

/** Resolves with the whole answer. Redirects are not followed. Rejects with an error whose message is a reason for operators. */
export async function boundedFetch(
  url: string,
  { timeoutMs, signal, bytesMax, faultOf, ...request }: BoundedRequest,
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Buffer<ArrayBuffer> }> {
  const over = new AbortController();
  const deadline = startDeadline(timeoutMs, () => over.abort(new DOMException('overdue', 'TimeoutError')));
  const signals = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  try {
    const answer = await fetch(url, { ...(request as RequestInit), redirect: 'manual', signal: signals });
    const fault = faultOf(answer);
    if (fault !== undefined) {
      await answer.body?.cancel();
      throw new Error(fault);
    }
    const body = await boundedBody(answer, bytesMax);
    if (body === undefined) throw new Error(`its answer is longer than ${bytesMax} bytes`);
    return { status: answer.status, headers: answer.headers, body };
  } catch (cause) {
    throw new Error(reasonOf(cause), { cause });
  } finally {
    deadline.stop();
  }
}

/**
 * Resolves with the whole body. If the body is too long, resolves with undefined, and does not read the rest. Rejects with the error of the
 * connection.
 */
export async function boundedBody(
  { body }: Pick<Response, 'body'>,
  bytesMax: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns the reason of a failure. An error of `fetch` has the reason as its cause, and itself only says "fetch failed". */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.name === 'TimeoutError') return 'it did not answer in time';
  const { code, message } = (thrown.cause ?? thrown) as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : message;
}
