// Finds out what a connection has received while it carried no request. No request asked for such bytes, so the next request must not take
// them for its answer.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { handleOf } from '../../sockets/handle.ts';
import { NOTHING, type Unread } from '../../sockets/unread-bytes.ts';

/**
 * - `nothing`: no bytes wait.
 * - `bytes`: no request asked for the bytes.
 * - `decrypted`: TLS has read the bytes. They may have been session tickets.
 * - `unclear`: the connection has ended, or the bytes may be a part of an answer.
 */
type UnreadBytes = 'nothing' | 'bytes' | 'decrypted' | 'unclear';

export class UnreadCheck {
  readonly #socket: Socket;
  readonly #unread: Unread;
  readonly #take: () => number;
  readonly #isTls: boolean;
  #hasAnswered = false;
  /** Bytes that were read from the TCP connection under TLS when the last answer was complete. */
  #bytesRead = 0;

  constructor(socket: Socket, unread: Unread) {
    this.#socket = socket;
    this.#unread = unread;
    this.#take = unread.takerOf(socket);
    this.#isTls = socket instanceof TLSSocket;
  }

  /** Call it when an answer is complete. */
  noteAnswered(): void {
    this.#hasAnswered = true;
    if (this.#isTls) this.#bytesRead = this.#bytesBeneath();
  }

  /** Reads the bytes that wait in the kernel. */
  readUnread(): UnreadBytes {
    const length = this.#take();
    if (!this.#isTls) {
      if (length === NOTHING) return 'nothing';
      return length > 0 ? 'bytes' : 'unclear';
    }
    // On a new TLS connection, unread bytes may be session tickets. On a used connection, any unread byte means that the connection is not
    // quiet, because the byte may belong to an incomplete record with HTTP bytes.
    if (length === NOTHING)
      return !this.#hasAnswered || this.#bytesRead === this.#bytesBeneath() ? 'nothing' : 'unclear';
    if (length === 0 || length === this.#unread.bytes.length) return 'unclear';
    // TLS decrypts the bytes. If they contain HTTP, `read` of the connection gets them now; session tickets cause no call.
    handleOf(this.#socket)?.receive?.(this.#unread.bytes.subarray(0, length));
    return this.#hasAnswered ? 'unclear' : 'decrypted';
  }

  #bytesBeneath(): number {
    return handleOf(this.#socket)?._parent?.bytesRead ?? 0;
  }
}
