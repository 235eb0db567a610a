// A way to a server that can be shut, slowed down, cut in the middle of an answer, and reset, while the server behind it lives on.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Relay {
  readonly port: number;
  /** What is sent in either direction arrives so much later. 0: at once. */
  delay(ms: number): void;
  /** Every connection ends in the middle of what comes back, after so many bytes. Undefined: none does. */
  cutAfter(bytes: number | undefined): void;
  /** Every connection is reset, those that are made from now on too, until it is told otherwise. */
  reset(yes: boolean): void;
  /** Breaks every connection once. */
  breakAll(): void;
  /** Nobody listens any more. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** @param portBehind where the server listens on the loopback */
export async function startRelay(portBehind: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let cutBytes: number | undefined;
  let resets = false;

  function pass(from: Socket, to: Socket, isAnswer: boolean): void {
    let passed = 0;
    sockets.add(from);
    from.setNoDelay(true);
    const send = (bytes: Buffer) => {
      if (!to.writable) return;
      passed += bytes.length;
      if (!isAnswer || cutBytes === undefined || passed <= cutBytes) to.write(bytes);
      else {
        to.write(bytes.subarray(0, Math.max(0, bytes.length - (passed - cutBytes))), () => to.destroy());
        from.destroy();
      }
    };
    from.on('data', (bytes: Buffer) => {
      // Timers of the same length fire in the order in which they were set.
      if (delayMs > 0) setTimeout(send, delayMs, bytes);
      else send(bytes);
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  function accept(client: Socket): void {
    if (resets) {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const server = connect(portBehind, '127.0.0.1');
    pass(client, server, false);
    pass(server, client, true);
  }

  async function listen(port: number): Promise<Server> {
    const server = createServer(accept).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }

  const breakAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  let door = await listen(0);
  const { port } = door.address() as { port: number };
  return {
    port,
    delay(ms) {
      delayMs = ms;
    },
    cutAfter(bytes) {
      cutBytes = bytes;
    },
    reset(yes) {
      resets = yes;
      if (yes) breakAll();
    },
    breakAll,
    async shut() {
      const closed = once(door, 'close');
      door.close();
      breakAll();
      await closed;
    },
    async open() {
      door = await listen(port);
    },
  };
}
