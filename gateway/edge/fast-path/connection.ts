// One connection of the fast path. It carries one request at a time. When bytes arrive that are not one usual request, Node's HTTP server
// gets the connection with these bytes, and keeps it.

import type { Socket } from 'node:net';
import { readUsualHead } from '../../http1/usual-head.ts';
import { contain, reportFault } from '../../shared/faults.ts';
import { giveBackReads, takeReads } from '../../sockets/shared-reads.ts';
import type { FastPath } from './fast-path.ts';
import { FastRequest } from './request.ts';
import { FastResponse } from './response.ts';

export class FastConnection {
  readonly socket: Socket;
  readonly keepAliveMs: number;
  /** The answer that is due. */
  response: FastResponse | undefined;
  /** When the wait for the current head began, by `performance.now()`; undefined if there is no wait, or if its timeout was reported. */
  headSince: number | undefined;
  /** When a check first found the connection idle, by `performance.now()`; undefined before that. */
  idleSince: number | undefined;
  readonly #fastPath: FastPath;
  #request: FastRequest | undefined;
  /** The beginning of a head, or bytes that follow a request that is not answered yet. */
  #waiting: Buffer | undefined;
  /** Whether a request has been read on this connection. */
  #hasServed = false;
  #isPaused = false;
  readonly #onWaiting = () => this.#pauseOrResume();
  readonly #listeners: readonly (readonly [event: string, listener: () => void])[];

  constructor(socket: Socket, fastPath: FastPath, now: number) {
    this.socket = socket;
    this.keepAliveMs = fastPath.keepAliveMs;
    this.headSince = now;
    this.#fastPath = fastPath;
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

  /** Starts to read. Returns false if the socket cannot be read in this way. */
  begin(): boolean {
    return takeReads(this.socket, (bytes) => {
      try {
        this.#read(bytes);
      } catch (thrown) {
        this.#fail(thrown);
      }
    });
  }

  /** Whether a request has been answered and no byte of the next one has arrived. */
  get isIdle(): boolean {
    return this.#hasServed && this.#request === undefined && this.#waiting === undefined;
  }

  /** Called when the whole answer has been given to the kernel. */
  onFinish(response: FastResponse): void {
    if (this.response !== response) return;
    this.response = undefined;
    try {
      if (response.isLast) {
        this.socket.destroySoon();
        return;
      }
      const request = this.#request as FastRequest;
      // The rest of the body is read and dropped. If that would take long, `refusals` has ended the connection.
      request.discard();
      if (request.complete) this.#next();
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** Removes the listeners of this connection from the socket, so that Node's server can take the socket. */
  detach(): void {
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

  /** @param bytes the bytes of one read. The next read overwrites their buffer, so copy the bytes that you keep. */
  #read(bytes: Buffer): void {
    const request = this.#request;
    if (request === undefined) {
      this.#readHead(bytes);
      return;
    }
    const copy = Buffer.from(bytes);
    const rest = request.complete ? copy : request.take(copy);
    if (rest !== undefined) {
      // These bytes belong to another request. Node's server reads them after this answer; later bytes wait in the bounded buffer of the
      // socket.
      this.#waiting = rest;
      giveBackReads(this.socket);
    }
    if (request.complete && this.response === undefined) this.#next();
    else this.#pauseOrResume();
  }

  /** Reads a head that arrives in one piece or two. A head in more pieces goes to Node's server, which limits its time. */
  #readHead(bytes: Buffer): void {
    const before = this.#waiting;
    const all = before === undefined ? bytes : Buffer.concat([before, bytes]);
    const head = readUsualHead(all, this.#fastPath);
    if (head === 'more' && before === undefined) {
      this.#waiting = Buffer.from(all);
      this.headSince = performance.now();
      return;
    }
    this.#waiting = undefined;
    if (typeof head === 'string' || all.length > head.headBytes + head.bodyBytes) {
      this.#fastPath.handOver(this, Buffer.from(all), head === 'more');
      return;
    }
    const request = new FastRequest(head, this.socket, this.#onWaiting);
    if (this.#fastPath.requestServer.needsNode(request)) {
      this.#fastPath.handOver(this, Buffer.from(all), false);
      return;
    }
    this.#request = request;
    this.#hasServed = true;
    this.headSince = undefined;
    this.idleSince = undefined;
    const response = new FastResponse(this.socket, head.method, head.isPersistent, this);
    this.response = response;
    if (all.length > head.headBytes) request.take(Buffer.from(all.subarray(head.headBytes)));
    this.#fastPath.requestServer.serveRequest(request, response);
  }

  #pauseOrResume(): void {
    const isPaused = this.#request?.isFull === true;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }

  /** Makes the connection ready for another request. */
  #next(): void {
    const bytes = this.#waiting;
    this.#request = undefined;
    this.#waiting = undefined;
    // The client has sent another request before this one was answered. Node's server handles such pipelined requests at the same time.
    if (bytes !== undefined) this.#fastPath.handOver(this, bytes, false);
    else if (this.#fastPath.isClosing) this.socket.destroySoon();
    else this.#pauseOrResume();
  }

  #ended(): void {
    const isCut = this.#request === undefined ? this.#waiting !== undefined : !this.#request.complete;
    if (isCut) this.#fastPath.onClientError(endOfInput(), this.socket);
    else if (this.response === undefined) this.socket.end();
    // The client sends nothing more. This answer is the last one if no bytes of another request wait to be read.
    else if (this.#waiting === undefined) this.response.isLast = true;
  }

  #closed(): void {
    this.#request?.abort(abortedError());
    this.response?.closed();
  }
}

/** The error of Node's parser for a client that ends in the middle of a request. */
function endOfInput(): NodeJS.ErrnoException {
  return Object.assign(new Error('the client ended the connection in the middle of a request'), {
    code: 'HPE_INVALID_EOF_STATE',
  });
}

function abortedError(): NodeJS.ErrnoException {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
}
