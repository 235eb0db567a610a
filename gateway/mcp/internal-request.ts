// A request that the gateway itself makes and sends through its own stages.

import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { DownstreamRequest } from '../exchange/downstream.ts';
import { contain } from '../shared/faults.ts';
import type { CollectedAnswer } from './collected-answer.ts';

interface InternalRequestOptions {
  readonly method: string;
  readonly target: string;
  /** Lower-case names, each once. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer | undefined;
  /** The address of the client on whose behalf the request is made. */
  readonly address: string;
  readonly response: CollectedAnswer;
}

/** Stands for a connection. Stages read its address, and end it to give up an answer. */
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

  /** Ends the answer. An answer that announces the end of its connection is complete at this end. */
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
    // The end comes after the data, and not if the reader has given up.
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
