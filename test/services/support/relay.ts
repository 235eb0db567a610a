// A relay in front of a provider: it keeps the refresh tokens that pass, as a thief on the way would, and may lose an answer with one.

import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Relay {
  readonly origin: string;
  /** The refresh tokens of the answers so far. */
  readonly refreshTokens: string[];
  /** The next answer with a refresh token does not arrive. */
  loseNext(): void;
  close(): void;
}

/** @param target the origin of the provider, which takes the address that it is asked at for its own */
export async function startRelay(target: string): Promise<Relay> {
  const refreshTokens: string[] = [];
  let losesNext = false;
  const server = createServer((request, response) => {
    const { method, headers, url = '' } = request;
    const onward = send(target + url, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        const [, token] = /"refresh_token":"([^"]+)"/.exec(body.toString()) ?? [];
        if (token !== undefined) refreshTokens.push(token);
        const isLost = losesNext && token !== undefined;
        losesNext &&= !isLost;
        if (isLost) response.destroy();
        else response.writeHead(answer.statusCode ?? 502, answer.headers).end(body);
      });
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refreshTokens,
    loseNext() {
      losesNext = true;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
