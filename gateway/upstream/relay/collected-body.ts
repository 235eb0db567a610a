// Collects the body of an answer that the client does not get as it arrives.

export class CollectedBody {
  readonly #bytesMax: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isTooLong(): boolean {
    return this.#bytes > this.#bytesMax;
  }

  /** Adds a chunk. Returns false if the body has become too long. */
  add(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    return !this.isTooLong;
  }

  /** Drops the chunks of a body that has become too long, to free their memory. */
  drop(): void {
    this.#chunks = [];
  }

  whole(): Buffer {
    const body = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#chunks = [body];
    return body;
  }
}
