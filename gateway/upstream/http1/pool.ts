// The connections to one origin, and who waits for one.

import { isIP, type LookupFunction, type Socket } from 'node:net';
import { atEndOfTurn } from '../../end-of-turn.ts';
import type { Unread } from '../../unread.ts';
import { ConnectAttempt } from './attempt.ts';
import { type Connect, type ConnectSettings, createConnect, hostOf } from './connect.ts';
import { Connection, type Owner } from './connection.ts';
import { WireFault } from './fault.ts';
import { requestHead } from './request-head.ts';
import type { AnswerHandler, Dispatcher, Outgoing } from './wire.ts';

export interface PoolSettings extends ConnectSettings {
  /** Connections per target. */
  readonly connections: number;
  /** A connection to a name that is older gets no further request, so that names are looked up again while requests never pause. */
  readonly connectionMaxAgeSeconds: number;
  /** One request per connection. */
  readonly isolate?: boolean | undefined;
}

/** What a connection reads with: what Node reads is in the one, what is read at once, in the other. */
export interface Reading {
  readonly readInto: Uint8Array;
  readonly unread: Unread;
}

const USELESS = 'the connection ended, or something came over it, before it had a request';
/** How often connections are looked at: for how long they have been idle, and how old they are. */
const LOOKED_AT_EVERY_MS = 1000;

export class Pool implements Dispatcher, Owner {
  /** How many connections were made. */
  opened = 0;
  readonly #host: string;
  readonly #connect: Connect;
  readonly #connectionsMax: number;
  readonly #maxAgeMs: number;
  readonly #isIsolating: boolean;
  readonly #unread: Unread;
  readonly #connections = new Set<Connection>();
  /** The one used last comes first, so that those that are not needed are left to age. */
  readonly #free: Connection[] = [];
  /** Free at the end of this turn: a close that has come together with the answer is found out in the next one. */
  readonly #resting: Connection[] = [];
  /** Made since requests were sent last. */
  readonly #fresh: Connection[] = [];
  readonly #waiting: ConnectAttempt[] = [];
  readonly #opening = new Set<Socket>();
  #isServing = false;
  #looking: NodeJS.Timeout | undefined;
  #onClosed: (() => void) | undefined;
  #isClosed = false;

  /** @param shared what all connections read with, one after the other; more than one pool may have it */
  constructor(origin: string, settings: PoolSettings, lookup: LookupFunction, shared: Reading) {
    const url = new URL(origin);
    this.#host = url.host;
    this.#connect = createConnect(url, settings, lookup, shared.readInto);
    this.#unread = shared.unread;
    this.#isIsolating = settings.isolate === true;
    this.#connectionsMax = settings.connections;
    // An address that is no name stays where it is.
    this.#maxAgeMs = isIP(hostOf(url)) === 0 ? settings.connectionMaxAgeSeconds * 1000 : Number.POSITIVE_INFINITY;
  }

  /**
   * What is sent leaves at the end of the turn, one request after the other. A free connection is read right before it is written to: one
   * that the other side has closed, or has sent something on meanwhile, is not used, so that no answer is taken for that of another
   * request, and no request is lost on a connection that is gone. One that has just been freed rests for one turn, since a close often
   * comes right behind an answer.
   */
  dispatch(request: Outgoing, handler: AnswerHandler): void {
    this.#waiting.push(new ConnectAttempt(request, requestHead(request, this.#host, !this.#isIsolating), handler));
    this.#serveSoon();
  }

  /** Resolves when requests in flight have ended. What is sent afterwards still is; its connection is not kept. */
  close(): Promise<void> {
    this.#isClosed = true;
    return new Promise((resolve) => {
      this.#onClosed = resolve;
      this.#lookWhetherClosed();
    });
  }

  /** Ends all connections now. Nobody who waits for an answer is told. */
  destroy(): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
    for (const connection of [...this.#connections]) connection.end();
    clearInterval(this.#looking);
    this.#lookWhetherClosed();
  }

  freed(connection: Connection): void {
    if (this.#isClosed && this.#waiting.length === 0) {
      connection.end();
      return;
    }
    this.#resting.push(connection);
    this.#serveSoon();
  }

  ended(connection: Connection): void {
    this.#connections.delete(connection);
    for (const list of [this.#free, this.#resting]) {
      const at = list.indexOf(connection);
      if (at !== -1) list.splice(at, 1);
    }
    // Another one in its place would end in the same way, where the other side greets, or leaves at once.
    if (this.#fresh.includes(connection)) this.#refuse(new WireFault('WIRE_INCOMPLETE', USELESS));
    else if (this.#waiting.length > 0) this.#serveSoon();
    this.#lookWhetherClosed();
  }

  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    atEndOfTurn(() => this.#serve());
  }

  #serve(): void {
    this.#isServing = false;
    while (this.#doesAnyoneWait() && this.#free.length > 0) {
      const connection = this.#free.pop() as Connection;
      if (connection.isQuiet()) connection.send(this.#waiting.shift() as ConnectAttempt);
      else connection.end();
    }
    this.#fresh.length = 0;
    this.#openForThoseWhoWait();
    this.#letRested();
    this.#lookWhetherClosed();
  }

  #letRested(): void {
    if (this.#resting.length === 0) return;
    for (const connection of this.#resting.splice(0)) {
      if (connection.isDrained) this.#free.push(connection);
      else connection.end();
    }
    if (this.#waiting.length > 0) this.#serveSoon();
  }

  /** Forgets those before the first who does. */
  #doesAnyoneWait(): boolean {
    while (this.#waiting[0]?.handler.ended === true) this.#waiting.shift();
    return this.#waiting.length > 0;
  }

  #endUnused(): void {
    for (const socket of this.#opening) socket.destroy();
    this.#opening.clear();
    for (const connection of [...this.#free, ...this.#resting]) connection.end();
  }

  #openForThoseWhoWait(): void {
    const room = this.#connectionsMax - this.#connections.size - this.#opening.size;
    const needed = Math.min(room, this.#waiting.length - this.#opening.size - this.#resting.length);
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
    const connection = new Connection(socket, this, performance.now(), this.#unread, this.#isIsolating);
    this.opened += 1;
    this.#connections.add(connection);
    this.#looking ??= setInterval(() => this.#lookAtAll(), LOOKED_AT_EVERY_MS).unref();
    this.#free.push(connection);
    this.#fresh.push(connection);
    this.#serveSoon();
    return connection;
  }

  /** No connection could be made. Whoever gets one that is free, or that is being made already, need not know. */
  #refuse(error: Error): void {
    const expected = this.#opening.size + this.#free.length + this.#resting.length;
    if (this.#doesAnyoneWait() && this.#waiting.length > expected) {
      const attempt = this.#waiting.shift() as ConnectAttempt;
      attempt.handler.onResponseError(undefined, error);
    }
    this.#serveSoon();
  }

  #lookAtAll(): void {
    const bornBefore = performance.now() - this.#maxAgeMs;
    for (const connection of this.#connections) {
      if (connection.bornAt < bornBefore) connection.retire();
      connection.tick();
    }
    if (this.#connections.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #lookWhetherClosed(): void {
    if (!this.#isClosed || this.#doesAnyoneWait()) return;
    this.#endUnused();
    if (this.#onClosed === undefined || this.#connections.size > 0) return;
    clearInterval(this.#looking);
    this.#onClosed();
    this.#onClosed = undefined;
  }
}
