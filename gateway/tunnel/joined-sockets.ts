// Joins the two connections of a WebSocket after its handshake. Counts their bytes, finds a side that closed without an end, and closes the
// client's side cleanly. The proxy library passes the bytes.

import type { Socket } from 'node:net';
import type { StreamEnd } from '../exchange/findings.ts';
import { createFrames, GOING_AWAY, NOT_ALLOWED } from './frames.ts';
import { KEEP_ALIVE_MS } from './waiting.ts';

/** The time for a client whose credential has ended to answer the Close frame. */
const NOT_ALLOWED_MS = 400;
/** Time for the last bytes of one side to reach the other after the connection has closed. */
const LINGER_MS = 1000;

interface JoinedSocketsOptions {
  readonly client: Socket;
  readonly upstream: Socket;
  onBytesIn(bytes: Buffer): void;
  onBytesOut(bytes: Buffer): void;
  /** Takes the function that ends the WebSocket. The returned function is called when it has ended. */
  onStream(end: (why?: StreamEnd) => void): () => void;
}

/** Call it after the library has piped both sides, because an earlier listener would consume bytes. */
export function joinSockets({ client, upstream, onBytesIn, onBytesOut, onStream }: JoinedSocketsOptions): void {
  const frames = createFrames();
  upstream.on('data', (bytes: Buffer) => {
    onBytesOut(bytes);
    frames.see(bytes);
  });
  client.on('data', onBytesIn);
  const ended = onStream((why) => {
    const isNotAllowed = why === 'credential';
    upstream.unpipe(client);
    // The client answers this Close frame. Its answer is still passed to the upstream, which then closes as well.
    if (frames.atBoundary()) client.write(isNotAllowed ? NOT_ALLOWED : GOING_AWAY);
    client.end();
    upstream.resume();
    if (isNotAllowed) {
      client.unpipe(upstream);
      client.resume();
      setTimeout(() => client.destroy(), NOT_ALLOWED_MS).unref();
    }
  });
  client.once('close', () => {
    ended();
    letGo(upstream);
  });
  upstream.once('close', () => letGo(client));
}

/** Keeps both connections alive in firewalls that forget idle connections. */
export function keepJoinedAlive(client: Socket, upstream: Socket): void {
  client.setKeepAlive(true, KEEP_ALIVE_MS);
  upstream.setKeepAlive(true, KEEP_ALIVE_MS);
}

/** Closes a side after the other side has closed. Its pending bytes may still arrive, for at most LINGER_MS. */
function letGo(socket: Socket): void {
  if (socket.destroyed) return;
  socket.destroySoon();
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
