// Reads accepted connections into one shared buffer. Without it, Node allocates 64 kB for each read and gives most of it back. The
// gateway's own connections use the option `onread` for this, which the sockets of a server do not have.

import { Socket } from 'node:net';
import { handleOf } from './unread-bytes.ts';

const READ_BYTES = 65_536;
const shared = Buffer.allocUnsafeSlow(READ_BYTES);

/** Gets the bytes of a read; their buffer is reused for the next read of any connection. */
type TakeRead = (bytes: Buffer) => void;

/** The symbols under which Node keeps `onread`; undefined if this version of Node has other names. A pinned test checks that they exist. */
const buffer = symbolOf('kBuffer');
const callback = symbolOf('kBufferCb');

const givenBack = new WeakMap<Socket, { isGivenBack: boolean }>();

/**
 * From here on, the bytes of a connection go to `take` in place of its stream. The end of the connection, `pause` and `resume` work as
 * before.
 *
 * @returns false: the socket cannot be read in this way, and nothing has changed
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
  // Over TLS the first request may have come with the end of the handshake.
  if (socket.readableLength > 0) process.nextTick(takeEarly, socket, take, state);
  return true;
}

/** From here on, the stream of the socket gets the bytes again. Has no effect on a socket that `takeReads` did not take. */
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
