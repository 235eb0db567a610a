// A server between a gateway and the mail server of the sandbox: passes requests on, unless a test answers, holds or breaks them.

import type { ServerResponse } from 'node:http';
import { type Recorded, startUpstream } from './upstream.ts';

/** Returns true if the request is dealt with: it is not passed on. */
type Meddle = (request: Recorded, response: ServerResponse) => boolean | Promise<boolean>;

interface MailFront {
  readonly url: string;
  readonly requests: readonly Recorded[];
  /** Returns method, path and body of all requests since the last call, in order. */
  taken(): string[];
  /** Changes every request from now on; undefined ends this. */
  meddle(next: Meddle | undefined): void;
  /** Returns the highest number of concurrent requests. */
  mostAtOnce(): number;
  close(): Promise<void>;
}

export async function startMailFront(mailUrl: string): Promise<MailFront> {
  let meddle: Meddle | undefined;
  let seen = 0;
  let underWay = 0;
  let most = 0;

  async function passOn({ method, url, headers, body }: Recorded, response: ServerResponse): Promise<void> {
    const sent = { authorization: String(headers.authorization), 'content-type': 'application/json' };
    const answer = await fetch(mailUrl + url, { method, headers: sent, ...(body.length > 0 && { body }) });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(await answer.text());
  }

  const upstream = await startUpstream(async (request, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    response.once('close', () => {
      underWay -= 1;
    });
    if ((await meddle?.(request, response)) !== true) await passOn(request, response);
  });
  return {
    url: upstream.url,
    requests: upstream.requests,
    taken() {
      const since = upstream.requests.slice(seen);
      seen = upstream.requests.length;
      return since.map(({ method, url, body }) => `${method} ${url} ${body}`.trim());
    },
    meddle(next) {
      meddle = next;
    },
    mostAtOnce: () => most,
    close: upstream.close,
  };
}
