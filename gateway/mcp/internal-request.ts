// A request that the gateway makes itself and sends through its own stages, and the answer to it, which is collected instead of sent.

import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { DownstreamRequest, DownstreamResponse } from '../exchange/downstream.ts';
import { contain } from '../shared/faults.ts';

interface InternalRequestOptions {
  readonly method: string;
  readonly target: string;
  /** Lower-case names, each once. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer | undefined;
  /** Address of the client on whose behalf it is made. */
  readonly address: string;
  readonly response: CollectedAnswer;
}

/** Stands for a connection: stages read its address, and end it to give up an answer. */
class NoSocket extends EventEmitter {
  readonly remoteAddress: string;
  readonly writableLength = 0;
  readonly bytesWritten = 0;
  readonly #response: CollectedAnswer;

  constructor(address: string, response: CollectedAnswer) {
    super();
    this.remoteAddress = address;
    this.#response = response;
  }

  get destroyed(): boolean {
    return this.#response.destroyed;
  }

  get writableEnded(): boolean {
    return this.#response.destroyed;
  }

  /** An answer that says that its connection ends is complete with its end. */
  end(): void {
    this.#response.end();
    this.emit('close');
  }

  resume(): this {
    return this;
  }

  destroy(): void {
    this.#response.destroy();
  }

  resetAndDestroy(): void {
    this.#response.destroy();
  }
}

export class InternalRequest implements DownstreamRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly rawHeaders: readonly string[];
  readonly fields: Map<string, string>;
  readonly headers: IncomingHttpHeaders;
  readonly complete = true;
  readonly destroyed = false;
  readonly socket: Socket;
  readableDidRead = false;
  readonly #body: Buffer | undefined;
  #isPaused = false;

  constructor({ method, target, headers, body, address, response }: InternalRequestOptions) {
    this.method = method;
    this.url = target;
    this.fields = new Map(headers);
    this.headers = Object.fromEntries(headers);
    this.rawHeaders = [...headers].flat();
    this.#body = body;
    this.socket = new NoSocket(address, response) as unknown as Socket;
  }

  on(event: 'data' | 'end' | 'error', listener: (given: never) => void): this {
    // A reader adds all its listeners first.
    if (event === 'data') queueMicrotask(() => this.#deliver(listener as (chunk: Buffer) => void));
    // After the data, and not if the reader has given up.
    if (event === 'end') queueMicrotask(() => queueMicrotask(() => this.#isPaused || contain(listener as () => void)));
    return this;
  }

  removeAllListeners(_event: 'data'): this {
    return this;
  }

  pause(): this {
    this.#isPaused = true;
    return this;
  }

  async *iterator(_options: { readonly destroyOnReturn: boolean }): AsyncGenerator<Buffer> {
    this.readableDidRead = true;
    if (this.#body !== undefined) yield this.#body;
  }

  #deliver(listener: (chunk: Buffer) => void): void {
    this.readableDidRead = true;
    const body = this.#body;
    if (body !== undefined) contain(() => listener(body));
  }
}

/** Why an answer was not collected. */
type Uncollected = 'too_large' | 'unreadable' | 'gone';

export interface CollectedHead {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
}

interface CollectedAnswerOptions {
  /** Larger bodies are given up. */
  readonly bytesMax: number;
  /** Whether the body is of use, by its head. */
  wants(head: CollectedHead): boolean;
}

type Listener = () => void;

/** Collects an answer. Its reader never falls behind, so `drain` never comes. */
export class CollectedAnswer implements DownstreamResponse {
  statusCode = 200;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  readonly writableNeedDrain = false;
  destroyed = false;
  shouldKeepAlive = true;
  /** Set when the answer was given up; `head` is there if it came. */
  uncollected: Uncollected | undefined;
  head: CollectedHead | undefined;
  readonly #options: CollectedAnswerOptions;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  readonly #listeners = new Map<string, Listener[]>();

  constructor(options: CollectedAnswerOptions) {
    this.#options = options;
  }

  get body(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#bytes);
  }

  writeContinue(): void {}

  writeHead(status: number, headers: readonly string[] = []): this {
    if (this.headersSent) throw new Error('the head of this answer was written before');
    this.headersSent = true;
    this.statusCode = status;
    const fields = new Map<string, string>();
    for (let at = 0; at < headers.length; at += 2) {
      const name = (headers[at] as string).toLowerCase();
      const before = fields.get(name);
      fields.set(name, before === undefined ? String(headers[at + 1]) : `${before}, ${headers[at + 1]}`);
    }
    this.head = { status, headers: fields };
    return this;
  }

  flushHeaders(): void {
    this.#look();
  }

  write(chunk: Buffer, onWritten?: Listener): boolean {
    if (!this.headersSent) this.writeHead(this.statusCode);
    this.#look();
    this.#take(chunk);
    if (onWritten !== undefined) process.nextTick(onWritten);
    return true;
  }

  end(chunk?: Buffer): this {
    if (this.writableEnded || this.destroyed) return this;
    if (!this.headersSent) this.writeHead(this.statusCode);
    this.writableEnded = true;
    if (chunk !== undefined) this.#take(chunk);
    if (this.destroyed) return this;
    this.writableFinished = true;
    // Listeners are added after the call that ends an answer, too.
    process.nextTick(() => {
      this.#emit('finish');
      this.#close();
    });
    return this;
  }

  /** Gives the answer up, as a client does that leaves. */
  destroy(reason: Uncollected = 'gone'): this {
    if (this.destroyed || this.writableFinished) return this;
    this.uncollected = reason;
    this.#close();
    return this;
  }

  once(event: 'close' | 'drain' | 'finish', listener: Listener): this {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
    return this;
  }

  off(event: 'close' | 'drain', listener: Listener): this {
    const listeners = this.#listeners.get(event) ?? [];
    this.#listeners.set(
      event,
      listeners.filter((one) => one !== listener),
    );
    return this;
  }

  prependListener(event: 'close', listener: Listener): this {
    this.#listeners.set(event, [listener, ...(this.#listeners.get(event) ?? [])]);
    return this;
  }

  /** A stream may never end: it is given up as soon as its head is there. */
  #look(): void {
    if (this.destroyed || this.head === undefined || this.#options.wants(this.head)) return;
    // Not at once: the caller is in the middle of writing.
    process.nextTick(() => this.destroy('unreadable'));
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#options.bytesMax) this.#chunks.push(chunk);
    else this.destroy('too_large');
  }

  #close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#emit('close');
  }

  #emit(event: 'close' | 'finish'): void {
    const listeners = this.#listeners.get(event) ?? [];
    this.#listeners.delete(event);
    for (const listener of listeners) contain(listener);
  }
}
