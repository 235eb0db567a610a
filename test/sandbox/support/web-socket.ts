// A WebSocket client (RFC 6455) on a bare socket, so that a test decides about the spelling of every header and frame.
import { connect, type Socket } from 'node:net';

export interface Received {
  readonly opcode: number;
  readonly payload: Buffer;
}

interface WebSocketClient {
  readonly socket: Socket;
  /** Status line and headers of the answer, and its body where it was refused. */
  readonly head: string;
  send(opcode: number, payload: string | Buffer, final?: boolean): void;
  /** The next frame; rejects when the connection ends first. */
  next(): Promise<Received>;
}

export const HANDSHAKE: Readonly<Record<string, string>> = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  // The sample of RFC 6455, section 1.3.
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

export async function openWebSocket(
  port: number,
  headers: Readonly<Record<string, string>>,
  path = '/jmap/ws',
): Promise<WebSocketClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let received = Buffer.alloc(0);
  let over = false;
  let wake = () => {};
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  for (const event of ['end', 'error', 'close']) {
    socket.on(event, () => {
      over = true;
      wake();
    });
  }

  async function until<Found>(read: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = read();
      if (found !== undefined) return found;
      if (over) throw new Error('the connection ended');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  const lines = Object.entries({ Host: 'mail.test', ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  const head = await until(() => {
    const text = received.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (received.length < end + 4 + length) return undefined;
    received = received.subarray(end + 4 + length);
    return text.slice(0, end + 4 + length);
  });

  return {
    socket,
    head,
    send: (opcode, payload, final = true) => socket.write(maskedFrame(opcode, Buffer.from(payload), final)),
    next: () =>
      until(() => {
        const frame = readFrame(received);
        if (frame) received = received.subarray(frame.length);
        return frame;
      }),
  };
}

export function maskedFrame(opcode: number, payload: Buffer, final = true): Buffer {
  const size = payload.length;
  const first = (final ? 0x80 : 0) | opcode;
  const mask = Buffer.from([1, 2, 3, 4]);
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  if (size < 126) return Buffer.concat([Buffer.from([first, 0x80 | size]), mask, masked]);
  if (size < 65_536) return Buffer.concat([Buffer.from([first, 0xfe, size >> 8, size & 0xff]), mask, masked]);
  const long = Buffer.alloc(10);
  long.set([first, 0xff]);
  long.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([long, mask, masked]);
}

function readFrame(bytes: Buffer): (Received & { readonly length: number }) | undefined {
  if (bytes.length < 2) return undefined;
  const brief = bytes.readUInt8(1);
  const start = brief === 127 ? 10 : brief === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const size = start === 10 ? Number(bytes.readBigUInt64BE(2)) : start === 4 ? bytes.readUInt16BE(2) : brief;
  if (bytes.length < start + size) return undefined;
  return { opcode: bytes.readUInt8(0) & 0x0f, payload: bytes.subarray(start, start + size), length: start + size };
}
