// Upstreams for tests: real servers that record their requests and can misbehave in every way a socket allows.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createSocketServer,
  type Socket,
  type Server as SocketServer,
} from 'node:net';
import { freePort } from './free-port.ts';

export interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface FakeUpstream {
  readonly url: string;
  /** Everything that arrived whole, in order. */
  readonly requests: Recorded[];
  close(): Promise<void>;
}

export type Answer = (request: Recorded, response: ServerResponse, raw: IncomingMessage) => void;

/** Answers with an empty page, which is valid for every list operation of the shipped contracts. */
const answerEmptyPage: Answer = (_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end('{"data":[],"cursor":null,"has_more":false}');
};

export async function startUpstream(answer: Answer = answerEmptyPage): Promise<FakeUpstream> {
  const requests: Recorded[] = [];
  const server = createServer((raw, response) => {
    const chunks: Buffer[] = [];
    raw.on('error', () => undefined);
    raw.on('data', (chunk: Buffer) => chunks.push(chunk));
    raw.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = raw;
      const recorded = { method, url, headers, rawHeaders, body: Buffer.concat(chunks) };
      requests.push(recorded);
      answer(recorded, response, raw);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Starts an upstream that answers with any bytes, even if they are not HTTP.
 *
 * @param onConnection called first. A connection that it ends is not read
 */
export async function startRawUpstream(
  onRequest: (socket: Socket, text: string) => void,
  onConnection: (socket: Socket) => void = () => undefined,
): Promise<Omit<FakeUpstream, 'requests'>> {
  const server = createSocketServer((socket) => {
    onConnection(socket);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      const whole = text;
      text = '';
      onRequest(socket, whole);
    });
  });
  const { url, close } = await listening(server);
  return { url, close };
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** The open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Breaks all connections, and closes the server. */
  close(): Promise<void>;
}

/** Makes a server listen on a free port. Its connections may fail at any time. */
export async function listening(server: SocketServer): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    sockets,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A port without a listener. It stays one: `listen(0)` of another test does not give it out. */
export const unusedPort = freePort;
