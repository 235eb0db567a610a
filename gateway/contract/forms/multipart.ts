// Takes a multipart/form-data body apart as it arrives (RFC 7578, RFC 2046 section 5.1.1). Throws malformed_form for every body that two
// readers could take apart differently.

import { parseParameterizedField } from '../../shared/http/forms.ts';
import { malformedForm } from './malformed.ts';
import { type PartHead, parsePartHead } from './part-head.ts';

/** Receives the parts in sequence. An error that a method throws ends the reading. */
export interface PartHandler {
  head(head: PartHead): void;
  /** Receives a view of the pushed bytes. Copy it to keep it. */
  data(bytes: Buffer): void;
  end(): void;
}

/** Bound of the header section of a part, which is in memory between two chunks. */
const HEAD_BYTES_MAX = 8192;
const END_OF_HEAD = '\r\n\r\n';
/** A boundary has 1 to 70 characters, and does not end with a space (RFC 2046 section 5.1.1). */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;

/** Returns the delimiter that a Content-Type announces, without line break. Throws malformed_form. */
export function delimiterIn(contentType: string | undefined): string {
  const boundary = parseParameterizedField(contentType ?? '')?.parameters.get('boundary');
  if (boundary === undefined || !BOUNDARY.test(boundary)) throw malformedForm('boundary');
  return `--${boundary}`;
}

type State = 'start' | 'delimiter' | 'head' | 'data' | 'epilogue';

/**
 * A strict reader. It accepts nothing before the first delimiter, and at most one line break after the last delimiter. The text of
 * the delimiter must not occur elsewhere, not even after a bare CR or LF, which lenient readers take for a line break. Between two chunks,
 * the reader keeps at most one header section. It takes linear time.
 */
export class MultipartReader {
  readonly #dashes: Buffer;
  /** A tail of this length may be the beginning of a line break and a delimiter. */
  readonly #tail: number;
  readonly #handler: PartHandler;
  #state: State = 'start';
  #rest: Buffer = Buffer.alloc(0);
  /** Offset of `#rest` in the body. */
  #offset = 0;

  constructor(delimiter: string, handler: PartHandler) {
    this.#dashes = Buffer.from(delimiter, 'latin1');
    this.#tail = this.#dashes.length + 1;
    this.#handler = handler;
  }

  /** Takes the next bytes of the body. */
  push(chunk: Buffer): void {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (rest.length > 0) {
      const used = this.#step(rest);
      if (used === 0) break;
      rest = rest.subarray(used);
      this.#offset += used;
    }
    // A small view would keep the whole chunk in memory.
    this.#rest = Buffer.from(rest);
  }

  /** Whether the closing delimiter has arrived, so that no part follows. */
  get isClosed(): boolean {
    return this.#state === 'epilogue';
  }

  /** Called after the last byte. Throws if the body is not complete. */
  end(): void {
    if (!this.isClosed || this.#rest.length === 1) throw malformedForm('unfinished', this.#offset + this.#rest.length);
  }

  /** Returns the number of bytes that it used; 0 if it needs more bytes. */
  #step(bytes: Buffer): number {
    switch (this.#state) {
      case 'start':
        return this.#start(bytes);
      case 'delimiter':
        return this.#afterDelimiter(bytes);
      case 'head':
        return this.#head(bytes);
      case 'data':
        return this.#data(bytes);
      case 'epilogue':
        return this.#epilogue(bytes);
    }
  }

  #start(bytes: Buffer): number {
    const lineBreak = bytes[0] === 13 ? 2 : 0;
    const expected = lineBreak === 2 ? Buffer.concat([Buffer.from('\r\n'), this.#dashes]) : this.#dashes;
    const length = Math.min(bytes.length, expected.length);
    if (bytes.compare(expected, 0, length, 0, length) !== 0) throw malformedForm('delimiter', this.#offset);
    if (length < expected.length) return 0;
    this.#state = 'delimiter';
    return expected.length;
  }

  #afterDelimiter(bytes: Buffer): number {
    if (bytes.length < 2) return 0;
    const next = bytes.toString('latin1', 0, 2);
    if (next !== '\r\n' && next !== '--') throw malformedForm('delimiter', this.#offset);
    this.#state = next === '--' ? 'epilogue' : 'head';
    return 2;
  }

  #head(bytes: Buffer): number {
    const end = bytes.indexOf(END_OF_HEAD, 0, 'latin1');
    if (end > HEAD_BYTES_MAX || (end === -1 && bytes.length > HEAD_BYTES_MAX + 3)) {
      throw malformedForm('part_headers', this.#offset);
    }
    if (end === -1) return 0;
    const block = bytes.subarray(0, end);
    if (block.includes(this.#dashes)) throw malformedForm('delimiter', this.#offset);
    this.#handler.head(parsePartHead(block, this.#offset));
    this.#state = 'data';
    return end + END_OF_HEAD.length;
  }

  #data(bytes: Buffer): number {
    const found = bytes.indexOf(this.#dashes);
    if (found === -1) {
      const sure = Math.max(0, bytes.length - this.#tail);
      if (sure > 0) this.#handler.data(bytes.subarray(0, sure));
      return sure;
    }
    if (found < 2 || bytes[found - 2] !== 13 || bytes[found - 1] !== 10)
      throw malformedForm('delimiter', this.#offset + found);
    if (found > 2) this.#handler.data(bytes.subarray(0, found - 2));
    this.#handler.end();
    this.#state = 'delimiter';
    return found + this.#dashes.length;
  }

  #epilogue(bytes: Buffer): number {
    const isLineBreak = bytes[0] === 13 && (bytes.length === 1 || (bytes.length === 2 && bytes[1] === 10));
    if (!isLineBreak) throw malformedForm('delimiter', this.#offset);
    return 0;
  }
}
