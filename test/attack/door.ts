// A way in to a listener, plain or by TLS, for clients that leave with a reset: writes go by the stream, a reset by the socket below it.

import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

export interface Entered {
  readonly socket: Socket;
  /** The socket itself, or TLS on it. */
  readonly stream: Duplex;
  /** Resolves when the socket has closed, for any reason. */
  readonly closed: Promise<unknown>;
  /** Leaves without a word; resolves when this side has forgotten the connection. */
  reset(): Promise<void>;
}

/** A connection that this side cannot close is no concern of the gateway. */
const CLOSING_MS = 1000;

export interface Door {
  /** Resolves when something can be written, or when the connection has closed before. */
  enter(): Promise<Entered>;
}

/** @param ca certificate of the authority, where the listener speaks TLS as `api.test` */
export function createDoor(port: number, ca?: string): Door {
  return {
    async enter() {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      // The gateway may close first, which is its good right.
      socket.on('error', () => undefined);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const resetOn = (stream: Duplex) => async () => {
        // libuv refuses to reset a socket that is shutting down already, which happens when the gateway has ended first.
        if (socket.writableEnded || stream.writableEnded) socket.destroy();
        else socket.resetAndDestroy();
        await Promise.race([closed, sleep(CLOSING_MS)]);
      };
      if (ca === undefined) {
        await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]);
        return { socket, stream: socket, closed, reset: resetOn(socket) };
      }
      const stream = connectTls({ socket, ca, servername: 'api.test' });
      stream.on('error', () => undefined);
      await Promise.race([new Promise((resolve) => stream.once('secureConnect', resolve)), closed]);
      return { socket, stream, closed, reset: resetOn(stream) };
    },
  };
}
