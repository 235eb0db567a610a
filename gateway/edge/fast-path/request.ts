// A request that the fast path reads: its whole head, and its body as it arrives. One reader takes the body, by events or by iteration.

import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { DownstreamRequest } from '../../exchange/downstream.ts';
import type { UsualHead } from '../../http1/usual-head.ts';
import { contain } from '../../shared/faults.ts';

/** The connection is paused while this many bytes of a body wait, as in Node. */
const WAITING_BYTES_MAX = 65_536;

export class FastRequest implements DownstreamRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly rawHeaders: readonly string[];
  readonly fields: Map<string, string>;
  readonly socket: Socket;
  complete: boolean;
  readableDidRead = false;
  destroyed = false;
  #headers: IncomingHttpHeaders | undefined;
  /** Bytes of the body that have not arrived. */
  #left: number;
  #waiting: Buffer[] | undefined;
  #waitingBytes = 0;
  #isDiscarded = false;
  #error: Error | undefined;
  /** Called when reading may have to be paused or resumed. */
  readonly #onWaiting: () => void;
  #onData: ((chunk: Buffer) => void) | undefined;
  #onEnd: (() => void) | undefined;
  #onError: ((error: Error) => void) | undefined;
  /** Continues the iteration over the body, if one waits for bytes. */
  #wake: (() => void) | undefined;
  #isDue = false;

  constructor(head: UsualHead, socket: Socket, onWaiting: () => void) {
    this.method = head.method;
    this.url = head.target;
    this.rawHeaders = head.rawHeaders;
    this.fields = head.fields;
    this.socket = socket;
    this.#left = head.bodyBytes;
    this.complete = head.bodyBytes === 0;
    this.#onWaiting = onWaiting;
  }

  /** The headers, as Node has them. No field has two lines, so no value is joined or dropped. */
  get headers(): IncomingHttpHeaders {
    this.#headers ??= Object.fromEntries(this.fields);
    return this.#headers;
  }

  /** Whether reading should pause, because too many bytes wait for a reader. */
  get isFull(): boolean {
    return this.#waitingBytes >= WAITING_BYTES_MAX;
  }

  /** Takes the bytes that belong to the body. Returns the bytes after the body. */
  take(bytes: Buffer): Buffer | undefined {
    const length = Math.min(bytes.length, this.#left);
    this.#left -= length;
    this.complete = this.#left === 0;
    const rest = length === bytes.length ? undefined : bytes.subarray(length);
    if (this.#isDiscarded) return rest;
    const chunk = rest === undefined ? bytes : bytes.subarray(0, length);
    if (this.#onData !== undefined && this.#waiting === undefined && !this.#isDue) {
      this.#deliver(this.#onData, chunk);
      if (this.complete) this.#endSoon();
      return rest;
    }
    if (length > 0) {
      this.#waiting ??= [];
      this.#waiting.push(chunk);
      this.#waitingBytes += length;
    }
    this.#continue();
    return rest;
  }

  /** Drops the part of the body that has arrived, and the part that still arrives. */
  discard(): void {
    this.#isDiscarded = true;
    this.#waiting = undefined;
    this.#waitingBytes = 0;
    this.#onWaiting();
  }

  /** Call it when nothing more can arrive. */
  abort(error: Error): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#error = error;
    this.#waiting = undefined;
    const onError = this.#onError;
    // A reader that has received the whole body does not get the error.
    if (onError !== undefined && (this.#onEnd !== undefined || !this.complete)) contain(() => onError(error));
    this.#wakeUp();
  }

  on(event: 'data', listener: (chunk: Buffer) => void): this;
  on(event: 'end', listener: () => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: 'data' | 'end' | 'error', listener: unknown): this {
    if (event === 'data') {
      this.#onData = listener as (chunk: Buffer) => void;
      this.#flushSoon();
    } else if (event === 'end') {
      this.#onEnd = listener as () => void;
      if (this.complete) this.#flushSoon();
    } else this.#onError = listener as (error: Error) => void;
    return this;
  }

  removeAllListeners(_event: 'data'): this {
    this.#onData = undefined;
    return this;
  }

  pause(): this {
    this.#onData = undefined;
    return this;
  }

  async *iterator(_options: { readonly destroyOnReturn: boolean }): AsyncGenerator<Buffer> {
    for (;;) {
      if (this.#error !== undefined) throw this.#error;
      const chunk = this.#shift();
      if (chunk !== undefined) yield chunk;
      else if (this.complete) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #shift(): Buffer | undefined {
    const chunk = this.#waiting?.shift();
    if (chunk === undefined) {
      this.#waiting = undefined;
      return undefined;
    }
    this.readableDidRead = true;
    this.#waitingBytes -= chunk.length;
    this.#onWaiting();
    return chunk;
  }

  #continue(): void {
    if (this.#onData !== undefined) this.#flushSoon();
    else this.#wakeUp();
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #endSoon(): void {
    if (this.#onEnd !== undefined) this.#flushSoon();
  }

  /** Delivers in a microtask, because a reader first adds all its listeners. */
  #flushSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.destroyed) return;
    while (this.#onData !== undefined) {
      const chunk = this.#shift();
      if (chunk === undefined) break;
      this.#deliver(this.#onData, chunk);
    }
    const onEnd = this.#onEnd;
    if (!this.complete || this.#waiting !== undefined || onEnd === undefined) return;
    this.#onEnd = undefined;
    contain(onEnd);
  }

  #deliver(onData: (chunk: Buffer) => void, chunk: Buffer): void {
    this.readableDidRead = true;
    contain(() => onData(chunk));
  }
}
