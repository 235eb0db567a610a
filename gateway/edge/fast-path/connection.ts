// One connection of the fast path. It carries one request at a time. When bytes arrive that are not one usual request, the connection moves
// to Node's HTTP server with these bytes, and stays there.

import type { Socket } from 'node:net';
import type { DownstreamRequest } from '../../downstream.ts';
import { type HeadBounds, readUsualHead } from '../../http1/usual-head.ts';
import { contain, reportFault } from '../../shared/faults.ts';
import { giveBackReads, takeReads } from '../../sockets/shared-reads.ts';
import { FastRequest } from './request.ts';
import { FastResponse, type FastResponseOptions } from './response.ts';

/** The owner of the connections. */
export interface FastOwner extends HeadBounds, Pick<FastResponseOptions, 'keepAliveMs'> {
  /** Whether only Node's classes serve this request. */
  needsNode(request: DownstreamRequest): boolean;
  onRequest(request: FastRequest, response: FastResponse): void;
  /**
   * The connection leaves the fast path, with bytes that were read and not used.
   *
   * @param isPartOfHead the bytes begin a head, whose rest is awaited since `connection.since`
   */
  handOver(connection: FastConnection, bytes: Buffer, isPartOfHead: boolean): void;
  /** Whether idle connections are closed. */
  isClosing(): boolean;
  /** No request can be read any more: the client has ended in the middle of one. */
  onBroken(error: NodeJS.ErrnoException, socket: Socket): void;
}

export class FastConnection implements FastResponseOptions {
  readonly socket: Socket;
  readonly keepAliveMs: number;
  /** The answer that is due. */
  response: FastResponse | undefined;
  /** Start of waiting for a head, or of being idle, `performance.now()`; 0: since the last look. */
  since: number;
  readonly #owner: FastOwner;
  #request: FastRequest | undefined;
  /** The beginning of a head, or bytes behind a request that is being answered. */
  #waiting: Buffer | undefined;
  /** Whether a request has been read. */
  #hasServed = false;
  #isPaused = false;
  readonly #listeners: readonly (readonly [event: string, listener: () => void])[];

  constructor(socket: Socket, owner: FastOwner, now: number) {
    this.socket = socket;
    this.keepAliveMs = owner.keepAliveMs;
    this.since = now;
    this.#owner = owner;
    const guarded = (work: () => void) => () => {
      try {
        work();
      } catch (thrown) {
        this.#fail(thrown);
      }
    };
    this.#listeners = [
      ['end', guarded(() => this.#ended())],
      ['close', guarded(() => this.#closed())],
      ['drain', guarded(() => this.response?.drained())],
    ];
    for (const [event, listener] of this.#listeners) socket.on(event, listener);
  }

  /** Starts to read. False: the socket cannot be read in this way. */
  begin(): boolean {
    return takeReads(this.socket, (bytes) => {
      try {
        this.#read(bytes);
      } catch (thrown) {
        this.#fail(thrown);
      }
    });
  }

  /** Whether the first head is due, or the rest of a later one. */
  get isAwaitingHead(): boolean {
    return this.#request === undefined && (this.#waiting !== undefined || !this.#hasServed);
  }

  /** Whether it waits for a request and no byte of one has arrived. */
  get isIdle(): boolean {
    return this.#hasServed && this.#request === undefined && this.#waiting === undefined;
  }

  /** The answer is complete. */
  onFinish(response: FastResponse): void {
    try {
      this.#answered(response);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** Stops listening to the socket. */
  leave(): void {
    giveBackReads(this.socket);
    for (const [event, listener] of this.#listeners) this.socket.off(event, listener);
    this.#waiting = undefined;
    // The next reader resumes the socket.
    this.#isPaused = false;
  }

  #fail(thrown: unknown): void {
    reportFault(thrown);
    contain(() => this.socket.destroy());
  }

  /** @param bytes in a buffer that is used again: bytes that are kept are copied */
  #read(bytes: Buffer): void {
    const request = this.#request;
    if (request === undefined) {
      this.#readHead(bytes);
      return;
    }
    const copy = Buffer.from(bytes);
    const rest = request.complete ? copy : request.take(copy);
    if (rest !== undefined) {
      // Node's server reads these, once the answer has left. What follows them waits in the stream, which is bounded.
      this.#waiting = rest;
      giveBackReads(this.socket);
    }
    if (request.complete && this.response === undefined) this.#next();
    else this.#pauseOrResume();
  }

  /** A head is taken in one piece or in two: heads that take longer are timed by Node's server. */
  #readHead(bytes: Buffer): void {
    const before = this.#waiting;
    const all = before === undefined ? bytes : Buffer.concat([before, bytes]);
    const head = readUsualHead(all, this.#owner);
    if (head === 'more' && before === undefined) {
      this.#waiting = Buffer.from(all);
      this.since = performance.now();
      return;
    }
    this.#waiting = undefined;
    if (typeof head === 'string' || all.length > head.headBytes + head.bodyBytes) {
      this.#owner.handOver(this, Buffer.from(all), head === 'more');
      return;
    }
    const request = new FastRequest(head, this.socket, () => this.#pauseOrResume());
    if (this.#owner.needsNode(request)) {
      this.#owner.handOver(this, Buffer.from(all), false);
      return;
    }
    this.#request = request;
    this.#hasServed = true;
    this.since = 0;
    const response = new FastResponse(this.socket, head.method, head.isPersistent, this);
    this.response = response;
    if (all.length > head.headBytes) request.take(Buffer.from(all.subarray(head.headBytes)));
    this.#owner.onRequest(request, response);
  }

  #pauseOrResume(): void {
    const isPaused = this.#request?.isFull === true;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }

  #answered(response: FastResponse): void {
    if (this.response !== response) return;
    this.response = undefined;
    if (response.isLast) {
      this.socket.destroySoon();
      return;
    }
    const request = this.#request as FastRequest;
    // The rest of the body is read and dropped; `refuse` ends connections on which that would take long.
    request.discard();
    if (request.complete) this.#next();
  }

  /** The connection is ready for another request. */
  #next(): void {
    const bytes = this.#waiting;
    this.#request = undefined;
    this.#waiting = undefined;
    // The client has sent a further request before this one was answered. Node's server handles such pipelined requests at the same time.
    if (bytes !== undefined) this.#owner.handOver(this, bytes, false);
    else if (this.#owner.isClosing()) this.socket.destroySoon();
    else this.#pauseOrResume();
  }

  #ended(): void {
    const isCut = this.#request === undefined ? this.#waiting !== undefined : !this.#request.complete;
    if (isCut) this.#owner.onBroken(endOfInput(), this.socket);
    else if (this.response === undefined) this.socket.end();
    // Bytes that wait are answered first.
    else if (this.#waiting === undefined) this.response.isLast = true;
  }

  #closed(): void {
    this.#request?.abort(aborted());
    this.response?.closed();
  }
}

/** The error of Node's parser for a client that ends in the middle of a request. */
function endOfInput(): NodeJS.ErrnoException {
  return Object.assign(new Error('the client ended the connection in the middle of a request'), {
    code: 'HPE_INVALID_EOF_STATE',
  });
}

function aborted(): NodeJS.ErrnoException {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
}
