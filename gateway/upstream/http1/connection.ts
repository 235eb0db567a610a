// One connection to an upstream: one request at a time, its answer read to the end, then the next.
// A class, as whatever there is one of per request or connection that has several methods.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { onTlsEnd } from '../../tls-end.ts';
import { handleOf, NOTHING, type Unread } from '../../unread.ts';
import { AnswerReader } from './answer-reader.ts';
import type { ConnectAttempt } from './attempt.ts';
import { WireFault } from './fault.ts';
import { upload } from './upload.ts';

/** Whom a connection belongs to. */
export interface Owner {
  /** It can take another request. */
  freed(connection: Connection): void;
  /** It has ended and is not to be used again. Told once. */
  ended(connection: Connection): void;
}

/** A request whose body is as small as this leaves in one piece. */
const JOINED_BYTES_MAX = 65_536;
/** Other sides close idle connections after 5 s and more; what says otherwise is left this much earlier. */
const IDLE_SECONDS = 4;
const EARLIER_SECONDS = 2;
const IDLE_SECONDS_MAX = 600;

export class Connection {
  /** `performance.now()` */
  readonly bornAt: number;
  readonly #socket: Socket;
  readonly #owner: Owner;
  readonly #reader = new AnswerReader();
  readonly #unread: Unread;
  readonly #take: () => number;
  readonly #isTls: boolean;
  #attempt: ConnectAttempt | undefined;
  /** Whether the request has begun to be given to the socket, and whether all of it has been. */
  #hasBegun = false;
  #isSent = true;
  #hasAnswered = false;
  /** Over TLS, what had come over the connection beneath when the last answer was whole. */
  #bytesRead = 0;
  #isReading = false;
  /** The other side has ended it. What came before that may still have to be taken. */
  #isClosed = false;
  /** It has said so, where it has to: an answer may end with it. */
  #isEndSaid = false;
  #isRetired: boolean;
  #hasEnded = false;
  /** For how long it may be idle, and for how long it has been, counted by whoever asks each second. */
  #idleSecondsMax = IDLE_SECONDS;
  #idleSeconds = 0;

  /**
   * @param socket connected; what it reads goes to `read`
   * @param isSingle it is for one request only
   */
  constructor(socket: Socket, owner: Owner, bornAt: number, unread: Unread, isSingle: boolean) {
    this.bornAt = bornAt;
    this.#socket = socket;
    this.#owner = owner;
    this.#unread = unread;
    this.#take = unread.takerOf(socket);
    this.#isTls = socket instanceof TLSSocket;
    this.#isRetired = isSingle;
    socket.on('error', (error) => this.#lost(error));
    if (socket instanceof TLSSocket) {
      onTlsEnd(socket, (isSaid) => {
        this.#isEndSaid = isSaid;
      });
      socket.on('end', () => this.#closed());
    } else {
      socket.on('end', () => {
        this.#isEndSaid = true;
        this.#closed();
      });
    }
    socket.on('close', () => this.#closed());
  }

  /**
   * Whether nothing has come over it that was not asked for, and the other side has not ended it, up to this moment. What is written
   * next has to be written at once. If this is false, the connection has to be ended.
   */
  isQuiet(): boolean {
    const length = this.#take();
    if (!this.#isTls) return length === NOTHING;
    // Tickets come without being asked for, but only to a new connection. Of anything else that is read, the end may still be missing.
    if (this.#hasAnswered) return length === NOTHING && this.#bytesRead === this.#bytesBeneath();
    if (length === NOTHING) return true;
    if (length === 0 || length === this.#unread.bytes.length) return false;
    handleOf(this.#socket)?.receive?.(this.#unread.bytes.subarray(0, length));
    return !this.#hasEnded && !this.#isClosed;
  }

  #bytesBeneath(): number {
    return handleOf(this.#socket)?._parent?.bytesRead ?? 0;
  }

  /** Only for a connection that is free, and quiet. */
  send(attempt: ConnectAttempt): void {
    this.#attempt = attempt;
    this.#idleSeconds = 0;
    attempt.connection = this;
    this.#hasBegun = attempt.request.body === null || attempt.request.body instanceof Buffer;
    this.#reader.begin(attempt.request.method);
    try {
      attempt.handler.onRequestStart(attempt);
    } catch (error) {
      if (this.#attempt === attempt) this.#fail(error as Error);
    }
    // Unless it was given up by that.
    if (this.#attempt === attempt) this.#write(attempt);
  }

  #write(attempt: ConnectAttempt): void {
    const { head, request } = attempt;
    const { body } = request;
    if (body === null) this.#socket.write(head, 'latin1');
    else if (!(body instanceof Buffer)) void this.#upload(attempt);
    else if (body.length <= JOINED_BYTES_MAX) this.#socket.write(joined(head, body));
    else {
      this.#socket.cork();
      this.#socket.write(head, 'latin1');
      this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  async #upload(attempt: ConnectAttempt): Promise<void> {
    this.#isSent = false;
    const begin = () => {
      if (!this.isQuiet())
        throw new WireFault('WIRE_INCOMPLETE', 'the connection was no longer usable when the body came');
      this.#hasBegun = true;
    };
    try {
      await upload(this.#socket, attempt.head, attempt.request, begin, () => this.#attempt === attempt);
      if (this.#attempt === attempt) this.#isSent = true;
    } catch (error) {
      if (this.#attempt === attempt) this.#fail(error as Error);
    }
  }

  /** What the socket has read; the bytes are used again afterwards. */
  read(bytes: Uint8Array, length: number): void {
    // Nobody has asked for anything: whose answer this is meant to be cannot be known.
    if (this.#attempt === undefined) {
      this.end();
      return;
    }
    if (!this.#hasBegun) {
      this.#fail(new WireFault('WIRE_MALFORMED', 'something came before any of the request was sent'));
      return;
    }
    const copy = Buffer.allocUnsafe(length);
    copy.set(length === bytes.length ? bytes : bytes.subarray(0, length));
    this.#reader.feed(copy);
    this.#readOn(this.#attempt);
  }

  #readOn(attempt: ConnectAttempt): void {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (!attempt.paused && this.#attempt === attempt && this.#step(attempt));
    } catch (error) {
      if (this.#attempt === attempt) this.#fail(error as Error);
    } finally {
      this.#isReading = false;
    }
    if (this.#isClosed && this.#attempt === attempt) this.#closed();
  }

  /** Whether there may be another one. */
  #step(attempt: ConnectAttempt): boolean {
    const { handler } = attempt;
    switch (this.#reader.next()) {
      case 'more':
        return false;
      case 'head': {
        const { status, headers } = this.#reader.head as NonNullable<AnswerReader['head']>;
        handler.onResponseStart(attempt, status, headers);
        return true;
      }
      case 'data':
        handler.onResponseData(attempt, this.#reader.chunk);
        return true;
      case 'end':
        this.#answered(attempt);
        return false;
    }
  }

  #answered(attempt: ConnectAttempt): void {
    this.#attempt = undefined;
    attempt.connection = undefined;
    this.#hasAnswered = true;
    if (this.#isTls) this.#bytesRead = this.#bytesBeneath();
    const head = this.#reader.head;
    const idleSecondsMax = (head?.idleSeconds ?? IDLE_SECONDS + EARLIER_SECONDS) - EARLIER_SECONDS;
    this.#idleSecondsMax = Math.min(idleSecondsMax, IDLE_SECONDS_MAX);
    const isWhole = this.#isSent && !this.#reader.hasSurplus && !this.#isClosed;
    if (isWhole && head?.isPersistent === true && idleSecondsMax > 0 && !this.#isRetired) this.#owner.freed(this);
    else this.end();
    try {
      attempt.handler.onResponseEnd(attempt);
    } catch (error) {
      this.end();
      attempt.handler.onResponseError(attempt, error as Error);
    }
  }

  /** False: the answer came before all of the request was read, and what comes after it would wait for that. Over TLS, known a turn later. */
  get isDrained(): boolean {
    return this.#socket.writableLength === 0;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
    if (this.#attempt !== undefined) this.#readOn(this.#attempt);
  }

  /** Takes no further request; closed at once if it has none. */
  retire(): void {
    this.#isRetired = true;
    if (this.#attempt === undefined) this.end();
  }

  /** A second has passed. */
  tick(): void {
    if (this.#attempt !== undefined) return;
    this.#idleSeconds += 1;
    if (this.#idleSeconds >= this.#idleSecondsMax) this.end();
  }

  /** Closes it. Whoever waits for an answer is not told. */
  end(): void {
    if (this.#attempt !== undefined) this.#attempt.connection = undefined;
    this.#attempt = undefined;
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#socket.destroy();
    this.#owner.ended(this);
  }

  /** The other side has ended it, as an answer without a length does. */
  #closed(): void {
    this.#isClosed = true;
    const attempt = this.#attempt;
    if (attempt === undefined) this.end();
    // TLS hands over all that it has read, and the end with it, also to whoever has paused: `resume` comes back here.
    else if (attempt.paused) return;
    else if (this.#isEndSaid && this.#reader.close()) {
      this.#answered(attempt);
    } else this.#fail(new WireFault('WIRE_INCOMPLETE', 'the connection ended before the answer was whole'));
  }

  #lost(error: Error): void {
    if (this.#attempt === undefined) this.end();
    else this.#fail(error);
  }

  #fail(error: Error): void {
    const attempt = this.#attempt as ConnectAttempt;
    this.end();
    attempt.handler.onResponseError(attempt, error);
  }
}

function joined(head: string, body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 0, 'latin1');
  bytes.set(body, head.length);
  return bytes;
}
