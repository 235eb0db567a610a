// Bytes as they come → the answer to one request after the other. It holds what is not understood yet: never more than a head of it, and
// what had been read when whoever takes the answer held it up.

import { type AnswerHead, parseAnswerHead } from './answer-head.ts';
import { WireFault } from './fault.ts';

/** What was understood: `more` bytes are needed, or the head, a piece of the body, or the end of the answer. */
export type Step = 'more' | 'head' | 'data' | 'end';

type State = 'head' | 'counted' | 'untilClose' | 'chunkSize' | 'chunk' | 'chunkEnd' | 'trailer' | 'over';

/** As Node's default for requests. */
const HEAD_BYTES_MAX = 16_384;
/** Of 1xx answers to one request: each takes a moment of the event loop, and an upstream could send them without end. */
const INTERIM_ANSWERS_MAX = 100;
/** A chunk's size with its extensions, which are ignored. */
const SIZE_LINE_BYTES_MAX = 1024;
/** With extensions as RFC 9112 section 7.1.1 has them, without the space that it calls bad: other readers refuse that. */
const CHUNK_SIZE =
  /^([\dA-Fa-f]{1,12})(?:;[!#$%&'*+\-.^_`|~\dA-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*$/;
const FIELD = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t -~\x80-\xff]*$/;

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);

export class AnswerReader {
  /** After `head`. */
  head: AnswerHead | undefined;
  /** After `data`. */
  chunk: Buffer = NOTHING;
  #state: State = 'over';
  #method = '';
  #bytes: Buffer = NOTHING;
  #at = 0;
  /** Bytes of the body, or of its chunk, that are still to come. */
  #left = 0;
  #trailerBytes = 0;
  #interimAnswers = 0;

  /** The answer to come is that to a request of this method. */
  begin(method: string): void {
    this.#method = method;
    this.#state = 'head';
    this.#interimAnswers = 0;
    this.head = undefined;
  }

  /** Bytes that were understood are let go of; `bytes` must not change afterwards. */
  feed(bytes: Buffer): void {
    const rest = this.#bytes.length - this.#at;
    this.#bytes = rest === 0 ? bytes : Buffer.concat([this.#bytes.subarray(this.#at), bytes]);
    this.#at = 0;
  }

  /** Bytes after the end of an answer: whose they are cannot be known. */
  get hasSurplus(): boolean {
    return this.#state === 'over' && this.#at < this.#bytes.length;
  }

  /** The other side has ended the connection. Whether the answer is whole by that. */
  close(): boolean {
    return this.#state === 'untilClose';
  }

  /** One step further. Throws WireFault, after which nothing that comes can be understood. */
  next(): Step {
    for (;;) {
      switch (this.#state) {
        case 'head':
          return this.#readHead() ? 'head' : 'more';
        case 'counted':
        case 'chunk':
          if (this.#left > 0) return this.#take(this.#left);
          if (this.#state === 'counted') return this.#end();
          this.#state = 'chunkEnd';
          break;
        case 'untilClose':
          return this.#take(this.#bytes.length - this.#at);
        case 'chunkSize':
          if (!this.#readChunkSize()) return 'more';
          break;
        case 'chunkEnd':
          if (!this.#readChunkEnd()) return 'more';
          break;
        case 'trailer':
          if (!this.#skipTrailer()) return 'more';
          break;
        case 'over':
          return this.#end();
      }
    }
  }

  #end(): Step {
    this.#state = 'over';
    return 'end';
  }

  /** False: it is not whole yet. Interim answers are skipped. */
  #readHead(): boolean {
    for (;;) {
      const end = this.#bytes.indexOf(HEAD_END, this.#at);
      // The last bytes may be all but one of its end.
      const length = (end === -1 ? this.#bytes.length - HEAD_END.length + 1 : end) - this.#at;
      if (length > HEAD_BYTES_MAX) throw new WireFault('WIRE_HEAD_TOO_LARGE', 'the head of the answer is too large');
      if (end === -1) return false;
      const head = parseAnswerHead(this.#bytes.toString('latin1', this.#at, end + LINE_END.length), this.#method);
      this.#at = end + HEAD_END.length;
      if (head.status === 101) throw new WireFault('WIRE_MALFORMED', 'the answer is an upgrade that nobody asked for');
      if (head.status < 200) {
        this.#interimAnswers += 1;
        if (this.#interimAnswers <= INTERIM_ANSWERS_MAX) continue;
        throw new WireFault('WIRE_MALFORMED', 'there are too many interim answers');
      }
      this.head = head;
      this.#expect(head);
      return true;
    }
  }

  #expect({ framing }: AnswerHead): void {
    if (framing === 'chunked') this.#state = 'chunkSize';
    else if (framing === 'close') this.#state = 'untilClose';
    else {
      this.#state = 'counted';
      this.#left = framing;
    }
  }

  #take(most: number): Step {
    const length = Math.min(most, this.#bytes.length - this.#at);
    if (length === 0) return 'more';
    this.chunk = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    this.#left -= length;
    return 'data';
  }

  #readChunkSize(): boolean {
    const line = this.#readLine(SIZE_LINE_BYTES_MAX);
    if (line === undefined) return false;
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) throw new WireFault('WIRE_MALFORMED', 'the size of a chunk is not a number');
    this.#left = Number.parseInt(size, 16);
    this.#trailerBytes = 0;
    this.#state = this.#left === 0 ? 'trailer' : 'chunk';
    return true;
  }

  #readChunkEnd(): boolean {
    const line = this.#readLine(0);
    if (line === undefined) return false;
    this.#state = 'chunkSize';
    return true;
  }

  /** Fields after the body are nobody's: RFC 9110 section 6.5.1 lets them be dropped. */
  #skipTrailer(): boolean {
    const line = this.#readLine(HEAD_BYTES_MAX - this.#trailerBytes);
    if (line === undefined) return false;
    this.#trailerBytes += line.length;
    if (line === '') this.#state = 'over';
    // What it is instead, an answer for one, may be where others take the body to have ended.
    else if (!FIELD.test(line)) throw new WireFault('WIRE_MALFORMED', 'a line after the last chunk is not a field');
    return true;
  }

  /** Without its end; undefined: it is not whole yet. */
  #readLine(bytesMax: number): string | undefined {
    const end = this.#bytes.indexOf(LINE_END, this.#at);
    // A carriage return at the very end may be half of a line end.
    const length = end === -1 ? this.#bytes.length - this.#at - 1 : end - this.#at;
    if (length > bytesMax) throw new WireFault('WIRE_MALFORMED', 'a line between chunks is too long');
    if (end === -1) return undefined;
    const line = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + LINE_END.length;
    return line;
  }
}
