// Sends one request to a remote gateway and reads its answer, bounded in time and size, without redirects and compression.

import { type Agent, type IncomingHttpHeaders, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { ServerAddress } from './server-address.ts';

/** The longest answer that is read. No page of the contract is longer. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

interface OneRequest {
  readonly address: ServerAddress;
  readonly agent: Agent;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly patienceMs: number;
}

export interface OneAnswer {
  readonly status: number;
  readonly type: string;
  /** The content coding of the body; undefined if the body has no coding. */
  readonly coding: string | undefined;
  readonly location: string | undefined;
  readonly etag: string | undefined;
  readonly body: string;
}

/** The answer is longer than any answer of a gateway. */
export class TooLong extends Error {}
/** The answer did not end in time. */
export class TooLate extends Error {}

/** Rejects with TooLong, TooLate, or the error of the connection. */
export function exchangeOnce(one: OneRequest): Promise<OneAnswer> {
  const { address, agent, method, target, headers, body, patienceMs } = one;
  const { protocol, hostname, port, prefix } = address;
  const send = protocol === 'https:' ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const outgoing = send({
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      ...(port !== '' && { port }),
      path: prefix + target,
      method,
      headers,
      agent,
      // The certificate is checked even if NODE_TLS_REJECT_UNAUTHORIZED is 0, because the request carries a key with which an eavesdropper
      // could make other requests.
      rejectUnauthorized: true,
    });
    const late = setTimeout(() => outgoing.destroy(new TooLate()), patienceMs);
    const end = (settle: () => void) => {
      clearTimeout(late);
      settle();
    };
    outgoing.once('error', (error) => end(() => reject(error)));
    outgoing.once('response', (incoming) => {
      readBody(incoming).then(
        (read) => end(() => resolve(answerOf(incoming, read))),
        (error) =>
          end(() => {
            outgoing.destroy();
            reject(error);
          }),
      );
    });
    outgoing.end(body);
  });
}

async function readBody(incoming: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) throw new TooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface Head {
  readonly statusCode?: number | undefined;
  readonly headers: IncomingHttpHeaders;
}

function answerOf({ statusCode = 0, headers }: Head, body: string): OneAnswer {
  const { 'content-type': type = '', location, etag, 'content-encoding': coding } = headers;
  return { status: statusCode, type, coding, location, etag, body };
}
