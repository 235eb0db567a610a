// Pure: frames of a WebSocket connection (RFC 6455, section 5), read as a server must and written as a server may.

export const CONTINUATION = 0;
export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

export interface Frame {
  readonly final: boolean;
  readonly opcode: number;
  readonly payload: Buffer;
}

/** Why a connection cannot go on, as a close code. */
export type Fault = 1002 | 1009;

export type Parsed =
  | { readonly frame: Frame; readonly length: number }
  | { readonly fault: Fault }
  /** More bytes are needed. */
  | undefined;

const OPCODES: readonly number[] = [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG];
const CONTROL_BYTES_MAX = 125;

/** The first frame of the bytes. A client's frames are masked, and control frames are short and whole. */
export function parseFrame(bytes: Buffer, payloadBytesMax: number): Parsed {
  if (bytes.length < 2) return undefined;
  const [first, second] = [bytes.readUInt8(0), bytes.readUInt8(1)];
  const [final, opcode] = [(first & 0x80) !== 0, first & 0x0f];
  const isControl = opcode >= CLOSE;
  const brief = second & 0x7f;
  const reserved = (first & 0x70) !== 0;
  if (reserved || !OPCODES.includes(opcode) || (second & 0x80) === 0) return { fault: 1002 };
  if (isControl && (!final || brief > CONTROL_BYTES_MAX)) return { fault: 1002 };

  const lengthBytes = brief === 127 ? 8 : brief === 126 ? 2 : 0;
  const start = 2 + lengthBytes + 4;
  if (bytes.length < start) return undefined;
  const size = lengthBytes === 8 ? Number(bytes.readBigUInt64BE(2)) : lengthBytes === 2 ? bytes.readUInt16BE(2) : brief;
  if (size > payloadBytesMax) return { fault: 1009 };
  if (bytes.length < start + size) return undefined;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(bytes.subarray(start, start + size));
  for (const [index, byte] of payload.entries()) payload[index] = byte ^ (mask[index % 4] ?? 0);
  return { frame: { final, opcode, payload }, length: start + size };
}

/** A whole frame without a mask. */
export function frameOf(opcode: number, payload: Buffer): Buffer {
  const size = payload.length;
  const first = 0x80 | opcode;
  if (size <= CONTROL_BYTES_MAX) return Buffer.concat([Buffer.from([first, size]), payload]);
  if (size < 65_536) return Buffer.concat([Buffer.from([first, 126, size >> 8, size & 0xff]), payload]);
  const head = Buffer.from([first, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([head, payload]);
}
