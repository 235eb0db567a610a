// Collects the body of an answer that the client does not get as it arrives.

export class CollectedBody {
  readonly #bytesMax: number;
  /** The only chunk so far. Most bodies are one chunk, for which no list is made. */
  #only: Buffer | undefined;
  #chunks: Buffer[] | undefined;
  /** Number of bytes so far, including the bytes that were dropped. */
  length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isTooLong(): boolean {
    return this.length > this.#bytesMax;
  }

  /** Adds a chunk. Returns false if the body has become too long. */
  add(chunk: Buffer): boolean {
    this.length += chunk.length;
    if (this.#chunks !== undefined) this.#chunks.push(chunk);
    else if (this.#only === undefined) this.#only = chunk;
    else this.#chunks = [this.#only, chunk];
    return !this.isTooLong;
  }

  /** Drops the chunks of a body that has become too long, to free their memory. */
  drop(): void {
    this.#only = undefined;
    this.#chunks = undefined;
  }

  whole(): Buffer {
    if (this.#chunks !== undefined) {
      this.#only = Buffer.concat(this.#chunks);
      this.#chunks = undefined;
    }
    this.#only ??= Buffer.alloc(0);
    return this.#only;
  }
}
