// One connection to an upstream. It carries one request at a time. The next request starts after the answer was read to its end.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { onTlsEnd } from '../../sockets/tls-end.ts';
import type { Unread } from '../../sockets/unread-bytes.ts';
import { readBeforeFailing } from '../../sockets/waiting-answer.ts';
import { AnswerReader } from './answer-reader.ts';
import type { Pool } from './pool.ts';
import type { RequestInFlight } from './request-in-flight.ts';
import { UnreadCheck } from './unread-check.ts';
import { WireFault } from './wire.ts';
import { upload, writeAtOnce } from './write-request.ts';

/**
 * A connection is closed after 4 s without a request, because most servers close idle connections after 5 s or more. If a server announces
 * its time, the connection is closed 2 s before that time.
 */
const IDLE_SECONDS = 4;
const EARLIER_SECONDS = 2;
const IDLE_SECONDS_MAX = 600;

export class Connection {
  /** `performance.now()` */
  readonly bornAt: number;
  /** It is called when the connection is free, and when it has ended. */
  readonly pool: Pool;
  readonly #socket: Socket;
  readonly #reader = new AnswerReader();
  readonly #unreadCheck: UnreadCheck;
  #inFlight: RequestInFlight | undefined;
  /** Whether the first byte of the request was written. */
  #hasBegun = false;
  /** Whether the whole request was written. */
  #isSent = true;
  #isReading = false;
  /** Whether the upstream has ended the connection. Bytes received before that may be unread. */
  #isClosed = false;
  /**
   * Whether the end of the connection was announced, over TLS by a close_notify, over TCP by any orderly end. Only an announced end
   * completes an answer without a length.
   */
  #isEndAnnounced = false;
  #isRetired = false;
  #hasEnded = false;
  /** The longest time for which the connection may be idle. */
  #idleSecondsMax = IDLE_SECONDS;
  /** How long the connection has been idle. The pool calls `tick` each second. */
  #idleSeconds = 0;

  /** @param socket connected; its bytes go to `read` */
  constructor(socket: Socket, pool: Pool, bornAt: number, unread: Unread) {
    this.bornAt = bornAt;
    this.#socket = socket;
    this.pool = pool;
    this.#unreadCheck = new UnreadCheck(socket, unread);
    readBeforeFailing(socket, unread, (bytes, length) => this.read(bytes, length));
    socket.on('error', (error) => this.#lost(error));
    if (socket instanceof TLSSocket) {
      onTlsEnd(socket, (isAnnounced) => {
        this.#isEndAnnounced = isAnnounced;
      });
      socket.on('end', () => this.#closed());
    } else {
      socket.on('end', () => {
        this.#isEndAnnounced = true;
        this.#closed();
      });
    }
    socket.on('close', () => this.#closed());
  }

  /**
   * Returns true if, up to this moment, the upstream has neither sent unrequested bytes nor ended the connection. Write the request
   * immediately afterwards. If it returns false, end the connection.
   */
  confirmQuiet(): boolean {
    const found = this.#unreadCheck.readUnread();
    if (found === 'bytes') this.pool.onUnrequestedBytes();
    // HTTP among decrypted bytes has ended the connection by now.
    return found === 'nothing' || (found === 'decrypted' && !this.#hasEnded && !this.#isClosed);
  }

  /** Sends a request. The connection must be free and quiet. */
  send(inFlight: RequestInFlight): void {
    this.#inFlight = inFlight;
    this.#idleSeconds = 0;
    inFlight.connection = this;
    this.#hasBegun = inFlight.request.body === null || inFlight.request.body instanceof Buffer;
    this.#reader.begin(inFlight.request.method);
    try {
      inFlight.handler.onRequestStart(inFlight);
    } catch (error) {
      if (this.#inFlight === inFlight) this.#fail(error as Error);
    }
    // `onRequestStart` may have aborted the request.
    if (this.#inFlight === inFlight) this.#write(inFlight);
  }

  #write(inFlight: RequestInFlight): void {
    const { head, request } = inFlight;
    const { body } = request;
    if (body === null || body instanceof Buffer) writeAtOnce(this.#socket, head, body);
    else void this.#upload(inFlight);
  }

  async #upload(inFlight: RequestInFlight): Promise<void> {
    this.#isSent = false;
    const begin = () => {
      if (!this.confirmQuiet())
        throw new WireFault('WIRE_INCOMPLETE', 'the connection was no longer usable when the body arrived');
      this.#hasBegun = true;
    };
    try {
      await upload(this.#socket, inFlight.head, inFlight.request, begin, () => this.#inFlight === inFlight);
      if (this.#inFlight === inFlight) this.#isSent = true;
    } catch (error) {
      if (this.#inFlight === inFlight) this.#fail(error as Error);
    }
  }

  /** Receives bytes from the socket. Their buffer is reused afterwards. */
  read(bytes: Uint8Array, length: number): void {
    // No request is in progress. Without this check, the bytes would be taken for the answer to the next request.
    if (this.#inFlight === undefined) {
      this.pool.onUnrequestedBytes();
      this.end();
      return;
    }
    if (!this.#hasBegun) {
      this.pool.onUnrequestedBytes();
      this.#fail(new WireFault('WIRE_MALFORMED', 'bytes were received before the request was sent'));
      return;
    }
    const copy = Buffer.allocUnsafe(length);
    copy.set(length === bytes.length ? bytes : bytes.subarray(0, length));
    this.#reader.feed(copy);
    this.#readOn(this.#inFlight);
  }

  #readOn(inFlight: RequestInFlight): void {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (!inFlight.paused && this.#inFlight === inFlight && this.#step(inFlight));
    } catch (error) {
      if (this.#inFlight === inFlight) this.#fail(error as Error);
    } finally {
      this.#isReading = false;
    }
    if (this.#isClosed && this.#inFlight === inFlight) this.#closed();
  }

  /** Returns true if another step may follow. */
  #step(inFlight: RequestInFlight): boolean {
    const { handler } = inFlight;
    switch (this.#reader.next()) {
      case 'more':
        return false;
      case 'head': {
        const { status, headers } = this.#reader.head as NonNullable<AnswerReader['head']>;
        handler.onResponseStart(inFlight, status, headers);
        return true;
      }
      case 'data':
        handler.onResponseData(inFlight, this.#reader.chunk);
        return true;
      case 'end':
        this.#answered(inFlight);
        return false;
    }
  }

  #answered(inFlight: RequestInFlight): void {
    this.#inFlight = undefined;
    inFlight.connection = undefined;
    this.#unreadCheck.noteAnswered();
    const head = this.#reader.head;
    const idleSecondsMax = (head?.idleSeconds ?? IDLE_SECONDS + EARLIER_SECONDS) - EARLIER_SECONDS;
    this.#idleSecondsMax = Math.min(idleSecondsMax, IDLE_SECONDS_MAX);
    if (this.#reader.hasSurplus) this.pool.onUnrequestedBytes();
    const isWhole = this.#isSent && !this.#reader.hasSurplus && !this.#isClosed;
    if (isWhole && head?.isPersistent === true && idleSecondsMax > 0 && !this.#isRetired) this.pool.onFree(this);
    else this.end();
    try {
      inFlight.handler.onResponseEnd(inFlight);
    } catch (error) {
      this.end();
      inFlight.handler.onResponseError(inFlight, error as Error);
    }
  }

  /**
   * Whether the kernel has taken the whole request. If it has not, the upstream has answered before it read the whole request, and the next
   * request on this connection would wait. Over TLS, this value is one turn late.
   */
  get isDrained(): boolean {
    return this.#socket.writableLength === 0;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
    if (this.#inFlight !== undefined) this.#readOn(this.#inFlight);
  }

  /** Gives the connection no other request. Closes it now if it is free, otherwise after its answer. */
  retire(): void {
    this.#isRetired = true;
    if (this.#inFlight === undefined) this.end();
  }

  /** Counts one second. */
  tick(): void {
    if (this.#inFlight !== undefined) return;
    this.#idleSeconds += 1;
    if (this.#idleSeconds >= this.#idleSecondsMax) this.end();
  }

  /** Closes the connection without calling the handler. */
  end(): void {
    if (this.#inFlight !== undefined) this.#inFlight.connection = undefined;
    this.#inFlight = undefined;
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#socket.destroy();
    this.pool.onEnd(this);
  }

  /** Called when the upstream has ended the connection. The end completes an answer without a length, and fails any other answer. */
  #closed(): void {
    this.#isClosed = true;
    const inFlight = this.#inFlight;
    if (inFlight === undefined) this.end();
    // TLS delivers the end even while the socket is paused. The rest of the answer waits for `resume`, which calls this function again.
    else if (inFlight.paused) return;
    else if (this.#isEndAnnounced && this.#reader.close()) {
      this.#answered(inFlight);
    } else this.#fail(new WireFault('WIRE_INCOMPLETE', 'the connection ended before the answer was whole'));
  }

  #lost(error: Error): void {
    if (this.#inFlight === undefined) this.end();
    else this.#fail(error);
  }

  #fail(error: Error): void {
    const inFlight = this.#inFlight as RequestInFlight;
    this.end();
    inFlight.handler.onResponseError(inFlight, error);
  }
}
