// The HTTPS client for an ACME server. It can trust additional authorities, and each request has a deadline. Throws AcmeFailure of the kind
// `server`.

import { Agent, request } from 'node:https';
import { getCACertificates } from 'node:tls';
import { AcmeFailure } from './failure.ts';

/** Maximum duration of a request. */
export const REQUEST_MAX_MS = 15_000;
const BODY_BYTES_MAX = 1_048_576;

export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: string;
}

export interface HttpClient {
  send(method: 'GET' | 'HEAD' | 'POST', url: string, body?: string, signal?: AbortSignal): Promise<HttpAnswer>;
  close(): void;
}

/** @param trust additional authorities, PEM */
export function createHttpClient(trust: string | undefined, userAgent: string): HttpClient {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 2,
    ...(trust !== undefined && { ca: [...getCACertificates('default'), trust] }),
  });

  function send(
    method: 'GET' | 'HEAD' | 'POST',
    url: string,
    body?: string,
    signal?: AbortSignal,
  ): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const deadline = AbortSignal.timeout(REQUEST_MAX_MS);
    const headers = {
      'user-agent': userAgent,
      ...(body !== undefined && { 'content-type': 'application/jose+json', 'content-length': Buffer.byteLength(body) }),
    };
    const sent = request(
      url,
      { method, agent, headers, signal: signal ? AbortSignal.any([signal, deadline]) : deadline },
      async (answer) => {
        try {
          let text = '';
          for await (const bytes of answer.setEncoding('utf8')) {
            text += bytes;
            if (text.length > BODY_BYTES_MAX) throw new Error('its answer is too long');
          }
          const header = (name: string) => answer.headers[name]?.toString();
          resolve({ status: answer.statusCode ?? 0, header, body: text });
        } catch (error) {
          reject(error);
        }
      },
    );
    sent.on('error', reject);
    sent.end(body);
    return promise.catch((cause: NodeJS.ErrnoException) => {
      if (signal?.aborted) throw signal.reason;
      const reason = deadline.aborted ? `no answer within ${REQUEST_MAX_MS / 1000} s` : (cause.code ?? cause.message);
      throw new AcmeFailure('server', `The ACME server ${new URL(url).host} cannot be reached (${reason}).`, { cause });
    });
  }

  return { send, close: () => agent.destroy() };
}
