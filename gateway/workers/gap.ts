// Listens in place of the workers while no worker does, because all have died at once. Otherwise the port would refuse connections until
// the first replacement listens. Connections are held unread, and the first worker that takes requests gets them. This costs nothing while
// a worker listens.

import { createServer, type Server, type Socket } from 'node:net';

/**
 * The largest number of held connections, which is far above the number that arrives in the seconds of a start. Each costs a file
 * descriptor and some kilobytes.
 */
const HELD_MAX = 1000;
/** How long a connection is held, which is longer than several starts of a worker. After this time it is closed. */
const HELD_MS = 10_000;

interface GapOptions {
  readonly host: string;
  /** Returns the ports of the workers; empty before the first worker has reported them. */
  ports(): readonly number[];
  /** Whether the gateway ends. */
  isEnding(): boolean;
  /** Called if this process cannot listen on a port. The port then refuses connections until a worker listens. */
  onFailure(error: Error): void;
}

export interface Gap {
  /** Call it when a worker no longer listens. This process then listens, if no other worker does. */
  begin(worker: number): void;
  /** Frees the port. Call it when a worker is about to listen. Held connections stay held. */
  makeWay(worker: number): void;
  /** Whether a worker listens, as far as is known. */
  isClosed(): boolean;
  /** Holds a connection to one of the ports, because no worker can take it. */
  hold(socket: Socket): void;
  /** Call it when a worker takes requests. It gets the held connections. */
  end(give: (socket: Socket, port: number) => void): void;
}

export function createGap({ host, ports, isEnding, onFailure }: GapOptions): Gap {
  const held = new Map<Socket, NodeJS.Timeout>();
  const listening = new Set<number>();
  let servers: Server[] = [];

  function hold(socket: Socket): void {
    if (held.size >= HELD_MAX) {
      socket.destroy();
      return;
    }
    socket.on('error', () => undefined).once('close', () => release(socket));
    held.set(
      socket,
      setTimeout(() => socket.destroy(), HELD_MS),
    );
  }

  function release(socket: Socket): void {
    clearTimeout(held.get(socket));
    held.delete(socket);
  }

  function makeWay(worker: number): void {
    listening.add(worker);
    close();
  }

  function close(): void {
    for (const server of servers) server.close();
    servers = [];
  }

  return {
    begin(worker) {
      if (!listening.delete(worker) || listening.size > 0 || isEnding()) return;
      servers = ports().map((port) =>
        createServer({ pauseOnConnect: true, allowHalfOpen: true }, hold).on('error', onFailure).listen(port, host),
      );
    },
    makeWay,
    isClosed: () => listening.size > 0,
    hold,
    end(give) {
      for (const socket of [...held.keys()]) {
        release(socket);
        if (socket.localPort === undefined) socket.destroy();
        else give(socket, socket.localPort);
      }
    },
  };
}
