// An upstream that keeps every request until the test lets it go.

import { type Recorded, startUpstream } from './upstream.ts';

interface HoldingUpstream {
  readonly url: string;
  /** Organizations with arrived requests, in order. */
  readonly arrived: string[];
  /** Returns the number of held requests. */
  held(): number;
  /** Answers the request that was held longest. */
  letGo(): void;
  /** Answers all held requests, and new requests at once. */
  letAllGo(): void;
  /** Keeps everything again. */
  holdAll(): void;
  close(): Promise<void>;
}

export async function startHoldingUpstream(): Promise<HoldingUpstream> {
  const arrived: string[] = [];
  const held: (() => void)[] = [];
  let isHolding = true;
  const upstream = await startUpstream(({ method, headers }: Recorded, response) => {
    arrived.push(String(headers['x-organization-id']));
    response.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
    if (isHolding) held.push(() => void response.end('{}'));
    else response.end('{}');
  });
  return {
    url: upstream.url,
    arrived,
    held: () => held.length,
    letGo: () => held.shift()?.(),
    letAllGo() {
      isHolding = false;
      for (const answer of held.splice(0)) answer();
    },
    holdAll() {
      isHolding = true;
    },
    close: upstream.close,
  };
}
