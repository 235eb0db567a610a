// The other side of connections: a server of bytes that shows every connection and request, so that tests can wait for them; and pools.

import { lookup } from 'node:dns';
import { type AddressInfo, createServer, type LookupFunction, type Server, type Socket } from 'node:net';
import { createServer as createSecureServer, type TlsOptions } from 'node:tls';
import { Pool, type PoolSettings } from '../../../../gateway/http1/client/pool.ts';
import { createUnread } from '../../../../gateway/sockets/unread-bytes.ts';
import type { Closable, closesAfterEach } from '../../../support/closing.ts';

export interface Arrived {
  readonly socket: Socket;
  /** Request line and fields. */
  readonly head: string;
  readonly path: string;
}

export interface Peer {
  readonly origin: string;
  readonly port: number;
  readonly server: Server;
  /** Connections in the order in which they came, open or not. */
  readonly sockets: Socket[];
  /** Requests with a complete head, in order. */
  readonly requests: Arrived[];
  /** All that has come, over all connections. */
  readonly received: Buffer[];
  /** How many connections were closed. */
  closed: number;
  /** Handles every request; does nothing at first. */
  plays(script: (request: Arrived) => void): void;
  /** Resolves when that is true of the rest; looked at whenever something happens here. */
  until(isSo: (peer: Peer) => boolean): Promise<void>;
  close(): Promise<void>;
}

export const EMPTY = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

/** An answer with its length in its head. */
export function counted(body: string, fields = ''): string {
  return `HTTP/1.1 200 OK\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`;
}

/** @param tls without: plain HTTP */
export async function startPeer(tls?: TlsOptions, host = '127.0.0.1'): Promise<Peer> {
  let script: (request: Arrived) => void = () => undefined;
  let waiting: { isSo(peer: Peer): boolean; resolve(): void }[] = [];
  const server =
    tls === undefined ? createServer({ noDelay: true }, accept) : createSecureServer({ ...tls, noDelay: true }, accept);

  function accept(socket: Socket): void {
    peer.sockets.push(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('close', () => {
      peer.closed += 1;
      look();
    });
    socket.on('data', (chunk) => {
      peer.received.push(chunk);
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end);
        text = text.slice(end + 4);
        const request = { socket, head, path: head.split(' ')[1] ?? '' };
        peer.requests.push(request);
        script(request);
      }
      // Of a large body, all but a possible half of an end is forgotten.
      if (text.length > 65_536) text = text.slice(-3);
      look();
    });
    look();
  }

  function look(): void {
    const met = waiting.filter(({ isSo }) => isSo(peer));
    waiting = waiting.filter((one) => !met.includes(one));
    for (const { resolve } of met) resolve();
  }

  // A handshake that fails is the test's to see on the other side.
  server.on('tlsClientError', () => undefined);
  const peer: Peer = {
    origin: '',
    port: 0,
    server,
    sockets: [],
    requests: [],
    received: [],
    closed: 0,
    plays(next) {
      script = next;
    },
    until: (isSo) => (isSo(peer) ? Promise.resolve() : new Promise((resolve) => waiting.push({ isSo, resolve }))),
    async close() {
      for (const socket of peer.sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return Object.assign(peer, { port, origin: `${tls === undefined ? 'http' : 'https'}://${name}:${port}` });
}

export function poolTo(
  origin: string,
  settings: Partial<PoolSettings> = {},
  lookUp: LookupFunction = lookup,
  onUnrequestedBytes?: () => void,
): Pool {
  const usual = { connections: 1, connectTimeoutMs: 5000, connectionMaxAgeSeconds: 60 };
  const shared = { readInto: new Uint8Array(65_536), unread: createUnread() };
  return new Pool(origin, { ...usual, ...settings }, lookUp, shared, onUnrequestedBytes);
}

/**
 * Look-ups that end when the test says so, each where servers listen, or with its error.
 *
 * @param atOnce how many are not held: the first ones
 */
export function holdLookUps(atOnce = 0) {
  const held: ((error?: Error) => void)[] = [];
  let asked = 0;
  const lookUp: LookupFunction = (_hostname, _options, callback) => {
    const goOn = (error?: Error) => callback(error ?? null, [{ address: '127.0.0.1', family: 4 }]);
    asked += 1;
    if (asked <= atOnce) goOn();
    else held.push(goOn);
  };
  return { held, lookUp };
}

/** The error of the system for an unknown name. */
export function unknownName(): Error {
  return Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
}

/** Ends a pool after a test, with or without requests in flight. */
export function destroying(pool: Pool): Closable {
  return { destroy: () => pool.destroy() };
}

/** Everything scheduled for the end of this turn, or for the next one, has happened. */
export async function turns(count = 3): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/**
 * A server, and connections to it, both ended after the test.
 *
 * @param lookUp with it, the server has a name
 */
export async function createPoolScene(
  start: ReturnType<typeof closesAfterEach>,
  settings: Partial<PoolSettings> = {},
  lookUp?: LookupFunction,
) {
  const peer = await start(startPeer());
  const pool = poolTo(lookUp === undefined ? peer.origin : `http://service.test:${peer.port}`, settings, lookUp);
  await start(destroying(pool));
  return { peer, pool };
}

/** Answers with the requested path. */
export function answer({ socket, path }: Arrived): void {
  socket.write(counted(path));
}
