// Parses the answers on one connection, step by step. The reader buffers bytes that are not parsed yet: at most a head, and the bytes that
// were read before the handler paused.

import { FIELD_LINE, HEAD_END, TOKEN } from '../grammar.ts';
import { type AnswerHead, parseAnswerHead } from './answer-head.ts';
import { WireFault } from './wire.ts';

/** Result of one step: more bytes are needed (`more`), or the head, a piece of the body, or the end of the answer was read. */
type Step = 'more' | 'head' | 'data' | 'end';

type State = 'head' | 'counted' | 'untilClose' | 'chunkSize' | 'chunk' | 'chunkEnd' | 'trailer' | 'over';

/** Maximum number of bytes of a head. The bound is the same as Node's default for requests. */
const HEAD_BYTES_MAX = 16_384;
/** Maximum number of 1xx answers per request. Each costs time on the event loop, and an upstream could send them without end. */
const INTERIM_ANSWERS_MAX = 100;
/** Maximum number of bytes of the line with the size of a chunk, including its extensions, which are ignored. */
const SIZE_LINE_BYTES_MAX = 1024;
/** Source of a quoted string (RFC 9110 section 5.6.4). */
const QUOTED = '"(?:[\\t !#-[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"';
/**
 * The line with the size of a chunk, with extensions as in RFC 9112 section 7.1.1. "Bad whitespace" is not allowed, because other parsers
 * reject it.
 */
const CHUNK_SIZE = new RegExp(`^([\\dA-Fa-f]{1,12})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*$`);
const FIELD = new RegExp(`^${FIELD_LINE}$`);

const LINE_END = Buffer.from('\r\n');
const NO_BYTES = Buffer.alloc(0);

export class AnswerReader {
  /** Set after the step `head`. */
  head: AnswerHead | undefined;
  /** Set after the step `data`. */
  chunk: Buffer = NO_BYTES;
  #state: State = 'over';
  #method = '';
  #bytes: Buffer = NO_BYTES;
  #at = 0;
  /** Bytes of the body or of the current chunk that have not arrived yet. */
  #left = 0;
  #trailerBytes = 0;
  #interimAnswers = 0;

  /** Call it before each answer, with the method of its request. */
  begin(method: string): void {
    this.#method = method;
    this.#state = 'head';
    this.#interimAnswers = 0;
    this.head = undefined;
  }

  /** Adds bytes and releases the parsed ones. `bytes` must not change afterwards. */
  feed(bytes: Buffer): void {
    const rest = this.#bytes.length - this.#at;
    this.#bytes = rest === 0 ? bytes : Buffer.concat([this.#bytes.subarray(this.#at), bytes]);
    this.#at = 0;
  }

  /** Whether bytes that no request asked for follow the end of the answer. */
  get hasSurplus(): boolean {
    return this.#state === 'over' && this.#at < this.#bytes.length;
  }

  /** Call it when the upstream has ended the connection. Returns whether that completes the answer. */
  close(): boolean {
    return this.#state === 'untilClose';
  }

  /** Parses one step. Throws WireFault; the connection cannot be used after that. */
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

  /** Returns false if the head is incomplete. Skips interim answers. */
  #readHead(): boolean {
    for (;;) {
      const end = this.#bytes.indexOf(HEAD_END, this.#at);
      // If no end was found, the last bytes may be the beginning of the end, so they do not count.
      const length = (end === -1 ? this.#bytes.length - HEAD_END.length + 1 : end) - this.#at;
      if (length > HEAD_BYTES_MAX) throw new WireFault('WIRE_HEAD_TOO_LARGE', 'the head of the answer is too large');
      if (end === -1) return false;
      const head = parseAnswerHead(this.#bytes.toString('latin1', this.#at, end + LINE_END.length), this.#method);
      this.#at = end + HEAD_END.length;
      if (head.status === 101)
        throw new WireFault('WIRE_MALFORMED', 'the answer is a 101, but no upgrade was requested');
      if (head.status < 200) {
        this.#interimAnswers += 1;
        if (this.#interimAnswers <= INTERIM_ANSWERS_MAX) continue;
        throw new WireFault('WIRE_MALFORMED', 'too many interim answers');
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

  /** Drops trailer fields, as RFC 9110 section 6.5.1 permits. */
  #skipTrailer(): boolean {
    const line = this.#readLine(HEAD_BYTES_MAX - this.#trailerBytes);
    if (line === undefined) return false;
    this.#trailerBytes += line.length;
    if (line === '') this.#state = 'over';
    // A line that is not a field is rejected, because another parser may end the body here and read the line as the beginning of the next
    // answer.
    else if (!FIELD.test(line)) throw new WireFault('WIRE_MALFORMED', 'a line after the last chunk is not a field');
    return true;
  }

  /** Returns the next line without its end; undefined if it is incomplete. */
  #readLine(bytesMax: number): string | undefined {
    const end = this.#bytes.indexOf(LINE_END, this.#at);
    // If no line end was found, the last byte may be its carriage return, so it does not count.
    const length = end === -1 ? this.#bytes.length - this.#at - 1 : end - this.#at;
    if (length > bytesMax) throw new WireFault('WIRE_MALFORMED', 'a line between chunks is too long');
    if (end === -1) return undefined;
    const line = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + LINE_END.length;
    return line;
  }
}
