// The connection pool of one origin, which opens connections for waiting requests, and reuses them.
//
// The calls from a request to its answer:
//
//   Pool.dispatch ─> requestHead                 makes the head (request-head.ts)
//     ─> WaitingRequests.add                     the request waits for the end of the turn, or longer for a connection
//   Pool.#serve ─> FreeConnections.take          takes a free connection
//     ─> Connection.confirmQuiet                 makes sure that the upstream has neither closed it nor written to it
//     ─> Connection.send ─> writeAtOnce, upload  writes the request (write-request.ts)
//     ─> Pool.#open ─> Connect                   opens a connection if none is free (connect.ts); then #serve again
//   Connection.read ─> AnswerReader.next          parses the answer (answer-reader.ts)
//     ─> AnswerHandler                           gets its parts; for a forwarded request, upstream/relay/relay.ts
//     ─> Pool.onFree ─> FreeConnections.rest     gives the connection back once the answer is read

import { isIP, type LookupFunction, type Socket } from 'node:net';
import { contain } from '../../shared/faults.ts';
import { atEndOfTurn } from '../../sockets/end-of-turn.ts';
import type { Unread } from '../../sockets/unread-bytes.ts';
import { type Connect, type ConnectSettings, createConnect, hostOf } from './connect.ts';
import { Connection } from './connection.ts';
import { FreeConnections } from './free-connections.ts';
import { requestHead } from './request-head.ts';
import { RequestInFlight } from './request-in-flight.ts';
import { WaitingRequests } from './waiting-requests.ts';
import { type AnswerHandler, type Dispatcher, type Outgoing, WireFault } from './wire.ts';

export interface PoolSettings extends ConnectSettings {
  /** Connections per target. */
  readonly connections: number;
  /**
   * A connection to a host name gets no more requests after this age. New connections resolve the name again, even if constant load would
   * keep the old ones in use.
   */
  readonly connectionMaxAgeSeconds: number;
  /** Whether each connection carries only one request. */
  readonly isolate?: boolean | undefined;
}

/** Shared read buffers: `readInto` for Node's reads, `unread` for synchronous reads. */
interface ReadBuffers {
  readonly readInto: Uint8Array;
  readonly unread: Unread;
}

const UNUSABLE = 'the connection ended or received bytes before its first request';
/** Interval for checking the idle time and age of connections. */
const CHECK_INTERVAL_MS = 1000;

export class Pool implements Dispatcher {
  /** Number of connections established. */
  openedCount = 0;
  readonly #host: string;
  readonly #connect: Connect;
  readonly #connectionsMax: number;
  readonly #maxAgeMs: number;
  readonly #isAlwaysIsolated: boolean;
  readonly #unread: Unread;
  readonly #connections = new Set<Connection>();
  /** The connections of open streams, which close with their answers, and do not count towards the bound. */
  readonly #detached = new Set<Connection>();
  readonly #free = new FreeConnections();
  readonly #waiting = new WaitingRequests();
  readonly #opening = new Set<Socket>();
  readonly #onUnrequestedBytes: () => void;
  #isIsolated = false;
  #isServing = false;
  #checkTimer: NodeJS.Timeout | undefined;
  #onClosed: (() => void) | undefined;
  #isClosed = false;

  /**
   * @param shared read buffers of all connections; several pools may share them
   * @param onUnrequestedBytes called when the upstream has written bytes that no request asked for; the pool isolates requests from then on
   */
  constructor(
    origin: string,
    settings: PoolSettings,
    lookup: LookupFunction,
    shared: ReadBuffers,
    onUnrequestedBytes: () => void = () => undefined,
  ) {
    const url = new URL(origin);
    this.#host = url.host;
    this.#connect = createConnect(url, settings, lookup, shared.readInto);
    this.#unread = shared.unread;
    this.#onUnrequestedBytes = onUnrequestedBytes;
    this.#isAlwaysIsolated = settings.isolate === true;
    this.#connectionsMax = settings.connections;
    // A connection to an IP address has no maximum age, because there is no name to resolve again.
    this.#maxAgeMs = isIP(hostOf(url)) === 0 ? settings.connectionMaxAgeSeconds * 1000 : Number.POSITIVE_INFINITY;
  }

  /**
   * Queues a request. The queued requests are sent in their order at the end of the turn. Immediately before a request is written, the free
   * connection is read. A connection that the upstream has closed or that has bytes to read is not used, because the request would be lost,
   * or the bytes would be taken for its answer. A connection that has just become free rests for one turn (free-connections.ts).
   */
  dispatch(request: Outgoing, handler: AnswerHandler): void {
    this.#waiting.add(new RequestInFlight(request, requestHead(request, this.#host, !this.#isolates), handler));
    this.#serveSoon();
  }

  /** Whether each request gets a new connection. */
  get #isolates(): boolean {
    return this.#isAlwaysIsolated || this.#isIsolated;
  }

  /** Turns one request per connection on or off. `settings.isolate` turns it on for good. */
  isolate(isIsolated: boolean): void {
    if (isIsolated === this.#isIsolated) return;
    this.#isIsolated = isIsolated;
    if (!isIsolated) return;
    // A new connection has carried no request yet, so no bytes on it can be a wrong answer, and it stays open.
    this.#free.endUsed();
  }

  /** Called when the upstream has written bytes that no request asked for. */
  onUnrequestedBytes(): void {
    // With `settings.isolate` each request already gets a new connection, so such bytes are harmless and are not reported.
    if (this.#isAlwaysIsolated) return;
    this.isolate(true);
    this.#onUnrequestedBytes();
  }

  /** Resolves when requests in progress have ended. Requests dispatched afterwards are still sent, but their connections are not kept. */
  close(): Promise<void> {
    this.#isClosed = true;
    return new Promise((resolve) => {
      this.#onClosed = resolve;
      this.#finishIfClosed();
    });
  }

  /** Ends all connections now, without calling the handlers. */
  destroy(): void {
    this.#isClosed = true;
    this.#waiting.dropAll();
    for (const connection of [...this.#connections]) connection.end();
    clearInterval(this.#checkTimer);
    this.#finishIfClosed();
  }

  /** Called when the connection can take another request. */
  onFree(connection: Connection): void {
    if (this.#isolates || (this.#isClosed && this.#waiting.length === 0)) {
      connection.end();
      return;
    }
    this.#free.rest(connection);
    this.#serveSoon();
  }

  /** No longer counts the connection, so that another one may be opened. Call it for an answer that may never end. */
  detach(connection: Connection): void {
    connection.retire();
    this.#detached.add(connection);
    if (this.#waiting.length > 0) this.#serveSoon();
  }

  /** Called once, when the connection has ended. */
  onEnd(connection: Connection): void {
    this.#connections.delete(connection);
    this.#detached.delete(connection);
    this.#free.remove(connection);
    // The connection ended before its first request, for example because the upstream sent a greeting or closed at once. A waiting request
    // fails, because a new connection would end in the same way.
    if (this.#free.isFresh(connection)) this.#refuse(new WireFault('WIRE_INCOMPLETE', UNUSABLE));
    else if (this.#waiting.length > 0) this.#serveSoon();
    this.#finishIfClosed();
  }

  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    atEndOfTurn(this, Pool.#serve);
  }

  // Static, because a closure would be made for each turn.
  static #serve(pool: Pool): void {
    pool.#isServing = false;
    while (pool.#waiting.hasNext()) {
      const connection = pool.#free.take();
      if (connection === undefined) break;
      if (connection.confirmQuiet()) connection.send(pool.#waiting.next());
      else connection.end();
    }
    pool.#free.forgetFresh();
    pool.#openForWaiting();
    pool.#waiting.noteWaits(pool.#opening.size + pool.#free.restingCount);
    if (pool.#free.endRest() && pool.#waiting.length > 0) pool.#serveSoon();
    pool.#finishIfClosed();
  }

  #openForWaiting(): void {
    const counted = this.#connections.size - this.#detached.size;
    const openable = this.#connectionsMax - counted - this.#opening.size;
    const needed = Math.min(openable, this.#waiting.length - this.#opening.size - this.#free.restingCount);
    for (let i = 0; i < needed; i++) this.#open();
  }

  #open(): void {
    let connection: Connection | undefined;
    const socket: Socket = this.#connect(
      (bytes, length) => connection?.read(bytes, length),
      (error) => {
        this.#opening.delete(socket);
        if (error === undefined) connection = this.#take(socket);
        else this.#refuse(error);
      },
    );
    this.#opening.add(socket);
  }

  #take(socket: Socket): Connection {
    const connection = new Connection(socket, this, performance.now(), this.#unread);
    this.openedCount += 1;
    this.#connections.add(connection);
    this.#checkTimer ??= setInterval(() => contain(() => this.#checkConnections()), CHECK_INTERVAL_MS).unref();
    this.#free.add(connection);
    this.#serveSoon();
    return connection;
  }

  /** Handles a failed connect: fails one waiting request, unless a connection that is free or being opened will serve it. */
  #refuse(error: Error): void {
    const expected = this.#opening.size + this.#free.count;
    if (this.#waiting.hasNext() && this.#waiting.length > expected)
      this.#waiting.next().handler.onResponseError(undefined, error);
    this.#serveSoon();
  }

  #checkConnections(): void {
    const bornBefore = performance.now() - this.#maxAgeMs;
    for (const connection of this.#connections) {
      if (connection.bornAt < bornBefore) connection.retire();
      connection.tick();
    }
    if (this.#connections.size > 0) return;
    clearInterval(this.#checkTimer);
    this.#checkTimer = undefined;
  }

  #finishIfClosed(): void {
    if (!this.#isClosed || this.#waiting.hasNext()) return;
    for (const socket of this.#opening) socket.destroy();
    this.#opening.clear();
    this.#free.endAll();
    if (this.#onClosed === undefined || this.#connections.size > 0) return;
    clearInterval(this.#checkTimer);
    this.#onClosed();
    this.#onClosed = undefined;
  }
}
