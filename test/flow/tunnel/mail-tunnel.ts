// The set-up for tests of tunnels: a gateway with a tunnel to a server that the test controls, and the requests of mail clients over it.

import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { type GatewayOptions, startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsContract } from '../../support/things.ts';
import { listening } from '../../support/upstream.ts';

export interface Behind {
  readonly url: string;
  /** Heads of the requests that came, upgrades among them. */
  readonly requests: IncomingMessage[];
  /** Connections that are open now. */
  readonly sockets: ReadonlySet<Socket>;
  /** Handles every request from now on. */
  plays(listener: RequestListener): void;
  /** Handles every upgrade from now on. */
  upgrades(listener: (request: IncomingMessage, socket: Socket, head: Buffer) => void): void;
  close(): Promise<void>;
}

/** A server that answers `{}` and refuses upgrades until the test changes it. */
export async function startBehind(): Promise<Behind> {
  const requests: IncomingMessage[] = [];
  let listener: RequestListener = (_request, response) =>
    response.setHeader('content-type', 'application/json').end('{}');
  let upgrades = (_request: IncomingMessage, socket: Socket, _head: Buffer): unknown =>
    socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
  const server: Server = createServer((request, response) => {
    requests.push(request);
    request.on('error', () => undefined);
    listener(request, response);
  });
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('upgrade', (request, socket, head) => {
    requests.push(request);
    socket.on('error', () => undefined);
    upgrades(request, socket as Socket, head);
  });
  const { url, sockets, close } = await listening(server);
  return {
    url,
    requests,
    sockets,
    plays(next) {
      listener = next;
    },
    upgrades(next) {
      upgrades = next;
    },
    close,
  };
}

export interface TunnelOptions {
  readonly tunnel?: Record<string, unknown>;
  readonly entry?: Record<string, unknown>;
  readonly gateway?: Record<string, unknown>;
  readonly now?: () => number;
}

/** The options of startGateway for a small contract, and JMAP through a tunnel. */
export function tunnelAt(url: string, { tunnel, entry, ...options }: TunnelOptions = {}): GatewayOptions {
  const rules = { paths: ['/jmap', '/jmap/*', '/.well-known/jmap'], webSocket: true, ...tunnel };
  return {
    contracts: { 'things.yaml': thingsContract() },
    upstreams: { things: { contracts: ['things.yaml'], live: url, tunnels: [rules], ...entry } },
    ...options,
  };
}

/** A gateway in front of it. */
export function startTunnel(url: string, options: TunnelOptions = {}): Promise<TestGateway> {
  return startGateway(tunnelAt(url, options));
}

/** The header lines of the first request that came in, as they came: lower-case name → value. */
export function linesOf({ rawHeaders }: IncomingMessage): Map<string, string> {
  const lines = new Map<string, string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    const before = lines.get(name);
    lines.set(name, before === undefined ? (rawHeaders[i + 1] as string) : `${before} AND ${rawHeaders[i + 1]}`);
  }
  return lines;
}
