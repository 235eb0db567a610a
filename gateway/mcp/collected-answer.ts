// Collects the answer to an internal request, instead of sending the answer.

import type { DownstreamResponse } from '../exchange/downstream.ts';
import { contain } from '../shared/faults.ts';

/** Why an answer was not collected. */
type CollectionFault = 'too_large' | 'unreadable' | 'gone';

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
  /** Set when the answer was given up. Contains `head` if the head had arrived. */
  uncollected: CollectionFault | undefined;
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

  /** Gives the answer up. The stages see this like a client that leaves. */
  destroy(reason: CollectionFault = 'gone'): this {
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

  /** Gives up a stream as soon as its head has arrived, because a stream may never end. */
  #look(): void {
    if (this.destroyed || this.head === undefined || this.#options.wants(this.head)) return;
    // `nextTick`, because the caller of this function is in the middle of a write.
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
