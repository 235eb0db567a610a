// Reads accepted connections into one shared buffer. Without the shared buffer, Node allocates 64 kB for each read and then frees most of
// it. Node offers the option `onread` for connections that the gateway opens, but not for accepted connections, so this file sets Node's
// internal fields.

import { Socket } from 'node:net';
import { handleOf } from './handle.ts';

const READ_BYTES = 65_536;
const shared = Buffer.allocUnsafeSlow(READ_BYTES);

/** Receives the bytes of a read. Their buffer is reused for the next read of any connection. */
type TakeRead = (bytes: Buffer) => void;

/**
 * The symbols under which Node keeps `onread`; undefined if this version of Node uses other names. A pinned test checks that the symbols
 * exist.
 */
const buffer = symbolOf('kBuffer');
const callback = symbolOf('kBufferCb');

const givenBack = new WeakMap<Socket, { isGivenBack: boolean }>();

/**
 * Sends the bytes of a connection to `take` instead of its stream. The end of the connection, `pause` and `resume` work as before.
 *
 * @returns false if the socket cannot be read in this way; then nothing has changed
 */
export function takeReads(socket: Socket, take: TakeRead): boolean {
  const handle = handleOf(socket);
  if (buffer === undefined || callback === undefined || handle?.useUserBuffer === undefined) return false;
  const state = { isGivenBack: false };
  givenBack.set(socket, state);
  handle.useUserBuffer(shared);
  Object.assign(socket, {
    [buffer]: shared,
    [callback](length: number) {
      const bytes = shared.subarray(0, length);
      if (state.isGivenBack) return socket.push(Buffer.from(bytes));
      take(bytes);
      return true;
    },
  });
  // Over TLS, the bytes of the first request may have arrived together with the end of the handshake. Such bytes are already in the stream.
  if (socket.readableLength > 0) process.nextTick(takeEarly, socket, take, state);
  return true;
}

/** Undoes `takeReads`: the stream of the socket gets the bytes. Has no effect on a socket without `takeReads`. */
export function giveBackReads(socket: Socket): void {
  const state = givenBack.get(socket);
  if (state !== undefined) state.isGivenBack = true;
}

function takeEarly(socket: Socket, take: TakeRead, state: { readonly isGivenBack: boolean }): void {
  if (state.isGivenBack) return;
  const bytes: Buffer | null = socket.read();
  if (bytes !== null) take(bytes);
}

function symbolOf(name: string): symbol | undefined {
  return Object.getOwnPropertySymbols(new Socket()).find(({ description }) => description === name);
}
