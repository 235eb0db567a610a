// The answer to a request of the fast path. Most answers leave in one write; a streamed answer needs a few.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { writeAnswerHead } from '../../http1/answer-writer.ts';
import { contain } from '../../shared/faults.ts';
import type { EdgeResponse } from '../edge-exchange.ts';
import type { FastConnection } from './connection.ts';

/** A body up to this size leaves with its head in one buffer. */
const JOINED_BYTES_MAX = 16_384;
/** Bytes of the buffer in which head and body are joined. A head is usually a few hundred bytes; a longer one gets its own buffer. */
const JOINING_BYTES = JOINED_BYTES_MAX + 8192;
/**
 * The buffer in which head and body are joined for plain connections. It is reused, so it stays in the cache of the processor, and joining
 * takes a sixth of the time that it takes in a new buffer.
 */
let joining = Buffer.allocUnsafeSlow(JOINING_BYTES);
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

type Listener = () => void;

/** A linked list of listeners. Each request adds two listeners; arrays would take ten times the memory. */
type Listeners = { readonly first: Listener; readonly rest: Listeners } | undefined;

export class FastResponse implements EdgeResponse {
  statusCode = 200;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  writableNeedDrain = false;
  destroyed = false;
  shouldKeepAlive: boolean;
  /** Whether the connection ends after this answer. */
  isLast = false;
  readonly #socket: Socket;
  readonly #connection: FastConnection;
  /** The head, until it is written with the first bytes of the body. */
  #head = '';
  #hasBody: boolean;
  #isChunked = false;
  #onClose: Listeners;
  #onDrain: Listeners;
  #onFinish: Listeners;

  constructor(socket: Socket, method: string, isKept: boolean, connection: FastConnection) {
    this.#socket = socket;
    this.#hasBody = method !== 'HEAD';
    this.shouldKeepAlive = isKept;
    this.#connection = connection;
  }

  writeContinue(): void {
    if (!this.headersSent && !this.destroyed) this.#socket.write(CONTINUE, 'latin1');
  }

  writeHead(status: number, headers: readonly string[] = []): this {
    if (this.headersSent) throw new Error('the head of this answer was written before');
    if (status === 204 || status === 304) this.#hasBody = false;
    const { text, isChunked, isLast } = writeAnswerHead({
      status,
      headers,
      isKept: this.shouldKeepAlive,
      keepAliveMs: this.#connection.keepAliveMs,
      hasBody: this.#hasBody,
      nowMs: Date.now(),
    });
    this.statusCode = status;
    this.#head = text;
    this.#isChunked = isChunked;
    this.isLast ||= isLast;
    this.headersSent = true;
    return this;
  }

  flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
    const head = this.#takeHead();
    if (head !== '') this.#socket.write(head, 'latin1');
  }

  write(chunk: Buffer, onWritten?: Listener): boolean {
    if (this.writableEnded || this.destroyed) {
      this.destroy();
      if (onWritten !== undefined) process.nextTick(onWritten);
      return false;
    }
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (!this.#hasBody || chunk.length === 0) {
      if (onWritten !== undefined) process.nextTick(onWritten);
      return true;
    }
    this.#corkForThisTick();
    const before = this.#isChunked ? `${this.#takeHead()}${chunk.length.toString(16)}\r\n` : this.#takeHead();
    const socket = this.#socket;
    if (before !== '') socket.write(before, 'latin1');
    const last = this.#isChunked ? undefined : onWritten;
    let hasRoom = last === undefined ? socket.write(chunk) : socket.write(chunk, last);
    if (this.#isChunked) hasRoom = socket.write('\r\n', 'latin1', onWritten);
    this.writableNeedDrain = !hasRoom;
    return hasRoom;
  }

  end(chunk?: Buffer): this {
    if (this.writableEnded || this.destroyed) return this;
    if (!this.headersSent) this.writeHead(this.statusCode, ['Content-Length', String(chunk?.length ?? 0)]);
    this.writableEnded = true;
    this.#sendRest(this.#hasBody && chunk !== undefined && chunk.length > 0 ? chunk : undefined);
    return this;
  }

  /** Sends the end of the answer. `#finished` runs when the socket has taken all of it. */
  #sendRest(chunk: Buffer | undefined): void {
    const socket = this.#socket;
    // After an error the socket closes, which ends the exchange.
    const finished = (error?: Error | null) => {
      if (error == null) this.#finished();
    };
    const head = this.#takeHead();
    if (this.#isChunked) {
      const size = chunk === undefined ? '' : `${chunk.length.toString(16)}\r\n`;
      socket.cork();
      if (head !== '' || size !== '') socket.write(head + size, 'latin1');
      if (chunk !== undefined) socket.write(chunk);
      socket.write(chunk === undefined ? LAST_CHUNK : `\r\n${LAST_CHUNK}`, 'latin1', finished);
    } else if (chunk === undefined) {
      // If the head was sent before, this write is empty. Its callback still runs only after all earlier bytes have left.
      socket.write(head, 'latin1', finished);
    } else if (head !== '' && chunk.length <= JOINED_BYTES_MAX) {
      this.#sendJoined(head, chunk, finished);
    } else {
      socket.cork();
      if (head !== '') socket.write(head, 'latin1');
      socket.write(chunk, finished);
    }
    while (socket.writableCorked > 0) socket.uncork();
  }

  #sendJoined(head: string, body: Buffer, finished: (error?: Error | null) => void): void {
    const socket = this.#socket;
    const length = head.length + body.length;
    // TLS encrypts the bytes later, so they must not be overwritten until then.
    const isReused = length <= JOINING_BYTES && !(socket instanceof TLSSocket);
    const bytes = isReused ? joining.subarray(0, length) : Buffer.allocUnsafe(length);
    bytes.write(head, 'latin1');
    bytes.set(body, head.length);
    socket.write(bytes, finished);
    // The kernel has not taken all bytes, so the pending write still uses this buffer. Later answers get a new one.
    if (isReused && socket.writableLength > 0) joining = Buffer.allocUnsafeSlow(JOINING_BYTES);
  }

  destroy(): this {
    if (!this.destroyed) this.#socket.destroy();
    return this;
  }

  /** Call it when the connection accepts bytes again. */
  drained(): void {
    if (!this.writableNeedDrain || this.writableEnded) return;
    this.writableNeedDrain = false;
    const listeners = this.#onDrain;
    this.#onDrain = undefined;
    callAll(listeners);
  }

  /** Call it when the exchange is over, because the answer is complete or the connection has ended. */
  closed(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.writableNeedDrain = false;
    const listeners = this.#onClose;
    this.#onClose = undefined;
    this.#onDrain = undefined;
    callAll(listeners);
  }

  once(event: 'close' | 'drain' | 'finish', listener: Listener): this {
    if (event === 'close') this.#onClose = append(this.#onClose, listener);
    else if (event === 'drain') this.#onDrain = append(this.#onDrain, listener);
    else this.#onFinish = append(this.#onFinish, listener);
    return this;
  }

  off(event: 'close' | 'drain', listener: Listener): this {
    if (event === 'close') this.#onClose = without(this.#onClose, listener);
    else this.#onDrain = without(this.#onDrain, listener);
    return this;
  }

  prependListener(_event: 'close', listener: Listener): this {
    this.#onClose = { first: listener, rest: this.#onClose };
    return this;
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    return head;
  }

  /** Pieces that are written in one turn leave together. */
  #corkForThisTick(): void {
    const socket = this.#socket;
    if (socket.writableCorked > 0) return;
    socket.cork();
    process.nextTick(uncork, socket);
  }

  #finished(): void {
    if (this.destroyed) return;
    this.writableFinished = true;
    const listeners = this.#onFinish;
    this.#onFinish = undefined;
    callAll(listeners);
    this.closed();
    this.#connection.onFinish(this);
  }
}

function uncork(socket: Socket): void {
  socket.uncork();
}

function append(listeners: Listeners, listener: Listener): Listeners {
  if (listeners === undefined) return { first: listener, rest: undefined };
  return { first: listeners.first, rest: append(listeners.rest, listener) };
}

function without(listeners: Listeners, listener: Listener): Listeners {
  if (listeners === undefined) return undefined;
  const rest = without(listeners.rest, listener);
  return listeners.first === listener ? rest : { first: listeners.first, rest };
}

/** Calls the listeners. An error in one is only reported, because a refusal can no longer be sent. */
function callAll(listeners: Listeners): void {
  for (let left = listeners; left !== undefined; left = left.rest) contain(left.first);
}
