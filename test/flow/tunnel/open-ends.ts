// WebSocket frames and handshakes as bytes, for tests that look at every one of them.

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';

export const GRANTED =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n';

/** A frame without mask: 1 text, 2 binary, 8 close, 9 ping, 10 pong; 0 continues a message. */
export function frame(opcode: number, content: Buffer | string, isLast = true): Buffer {
  const bytes = Buffer.from(content);
  const length = bytes.length;
  const first = (isLast ? 0x80 : 0) | opcode;
  if (length < 126) return Buffer.concat([Buffer.from([first, length]), bytes]);
  if (length < 65_536) return Buffer.concat([Buffer.from([first, 126, length >> 8, length & 255]), bytes]);
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, bytes]);
}

export const HANDSHAKE = [
  ...['Connection: keep-alive, upgrade', 'Upgrade: WebSocket', 'Sec-WebSocket-Version: 13'],
  ...['Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==', 'Sec-WebSocket-Protocol: jmap'],
];

/** Everything that comes, and a way to wait for it. */
export interface End {
  readonly socket: Socket;
  received(): Buffer;
  /** Resolves once that many bytes are there, or the other side has ended. */
  takes(bytes: number): Promise<Buffer>;
  /** Resolves when the other side has ended. */
  readonly ended: Promise<void>;
  readonly closed: Promise<void>;
  destroy(): void;
}

export function endOf(socket: Socket): End {
  let received = Buffer.alloc(0);
  let wake = () => {};
  let over = false;
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes]);
    wake();
  });
  socket.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    const finish = () => {
      over = true;
      wake();
      resolve();
    };
    socket.on('end', finish).on('close', finish);
  });
  return {
    socket,
    received: () => received,
    async takes(bytes) {
      while (received.length < bytes && !over) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const taken = received.subarray(0, bytes);
      received = received.subarray(bytes);
      return taken;
    },
    ended,
    closed: new Promise((resolve) => socket.once('close', () => resolve())),
    destroy: () => socket.destroy(),
  };
}

/** A client that requests a WebSocket, with bytes that follow at once. */
export async function openWebSocket(port: number, path = '/jmap/ws', lines = HANDSHAKE, first: Buffer | string = '') {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  await once(socket, 'connect');
  const host = lines.some((line) => /^host:/i.test(line)) ? [] : ['Host: api.test'];
  const head = [`GET ${path} HTTP/1.1`, ...host, ...lines, '', ''].join('\r\n');
  socket.write(Buffer.concat([Buffer.from(head), Buffer.from(first)]));
  return endOf(socket);
}

/** The head of the answer, which is removed from the received bytes. */
export async function headOf(end: End): Promise<string> {
  while (!end.received().includes('\r\n\r\n')) {
    const before = end.received().length;
    const more = await Promise.race([end.ended.then(() => false), once(end.socket, 'data').then(() => true)]);
    if (!more && end.received().length === before) break;
  }
  const length = end.received().indexOf('\r\n\r\n') + 4;
  return (await end.takes(length)).toString('latin1');
}

/** The upstream's side of the next WebSocket, once it is granted. */
interface Granting {
  upgrades(listener: (request: IncomingMessage, socket: Socket, head: Buffer) => void): void;
}

export function nextWebSocket(behind: Granting, first: Buffer | string = ''): Promise<End> {
  return new Promise((resolve) => {
    behind.upgrades((_request, socket, head) => {
      socket.write(Buffer.concat([Buffer.from(GRANTED), Buffer.from(first)]));
      if (head.length > 0) socket.unshift(head);
      resolve(endOf(socket));
    });
  });
}
