// The handle of a socket: the object beneath it, which Node does not document.

import type { Socket } from 'node:net';

/** Node internals of `net.Socket` and `tls.TLSSocket`; a pinned test checks that they exist. */
interface Handle {
  readonly fd?: number;
  /**
   * Number of written bytes that the layer below has not taken yet. With TLS, these bytes are encrypted; with TCP, they wait for the
   * kernel.
   */
  readonly writeQueueSize?: number;
  /** With TLS: takes bytes as if they had been read from the network. */
  receive?(bytes: Uint8Array): void;
  /** From now on, reads go into this buffer. */
  useUserBuffer?(buffer: Uint8Array): void;
  /** With TLS: whether reading is on. */
  readonly reading?: boolean;
  /** With TLS: the connection beneath. */
  readonly _parent?: { readonly bytesRead: number; readStart(): number };
}

/** Returns the handle of a socket; undefined if the socket is closed or still connecting. */
export function handleOf(socket: Socket): Handle | undefined {
  return (socket as Socket & { readonly _handle?: Handle | null })._handle ?? undefined;
}
