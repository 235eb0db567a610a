// The WebSocket of the file service: each change of a file is a message, and each message of the client comes back as it was sent.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ServerOptions, WebSocketServer } from 'ws';
import type { Scope } from '../store.ts';
import type { FileChanges } from './changes.ts';

export interface FileSockets {
  /** Takes a connection over; `head` are bytes that came with its handshake. */
  open(scope: Scope, request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Ends all of them. */
  close(): void;
}

const MESSAGE_BYTES_MAX = 64 * 1024;
const CLOSING_MS = 1000;
const GOING_AWAY = 1001;

export function createFileSockets(changes: FileChanges): FileSockets {
  // A client that does not answer a close is disconnected after `closeTimeout`; the types of the library do not name it yet.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    closeTimeout: CLOSING_MS,
  };
  const server = new WebSocketServer(options);
  return {
    open(scope, request, socket, head) {
      server.handleUpgrade(request, socket, head, (client) => {
        const stop = changes.listen(scope, (change) => client.send(JSON.stringify(change)));
        client.on('message', (message, binary) => client.send(message, { binary }));
        // The library closes the connection with the code that fits; a client that is gone is no fault.
        client.on('error', () => undefined);
        client.once('close', stop);
      });
    },
    close() {
      for (const client of server.clients) client.close(GOING_AWAY);
    },
  };
}
