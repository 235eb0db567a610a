// One HTTP request on a connection of its own. The answer is as it was on the wire: nothing is decompressed, no redirect is followed.

import { type IncomingHttpHeaders, request } from 'node:http';

export interface Call {
  /** Default: GET. */
  readonly method?: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const PATIENCE_MS = 20_000;

/** Rejects if the answer is incomplete, or after 20 seconds. */
export function send(origin: string, call: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = call;
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = request(origin + call.path, {
      method,
      headers: { ...length, ...headers },
      agent: false,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }),
      );
    });
    outgoing.end(body);
  });
}
