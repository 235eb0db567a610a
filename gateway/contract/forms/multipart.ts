// Takes a multipart/form-data body apart as it arrives (RFC 7578, RFC 2046 section 5.1.1). Throws malformed_form for every body that two
// readers could take apart differently.

import { parseParameterizedField } from '../../shared/http/forms.ts';
import { malformedForm } from './malformed.ts';
import { type PartHead, parsePartHead } from './part-head.ts';

/** Receives the parts in sequence. An error that a method throws ends the reading. */
interface PartHandler {
  head(head: PartHead): void;
  /** Receives a view of the pushed bytes. Copy it to keep it. */
  data(bytes: Buffer): void;
  end(): void;
}

export interface MultipartReader {
  /** Takes the next bytes of the body. */
  push(chunk: Buffer): void;
  /** Whether the closing delimiter has arrived, so that no part follows. */
  readonly isClosed: boolean;
  /** Called after the last byte. Throws if the body is not complete. */
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
 * Creates a strict reader. It accepts nothing before the first delimiter, and at most one line break after the last delimiter. The text of
 * the delimiter must not occur elsewhere, not even after a bare CR or LF, which lenient readers take for a line break. Between two chunks,
 * the reader keeps at most one header section. It takes linear time.
 */
export function createMultipartReader(delimiter: string, handler: PartHandler): MultipartReader {
  const dashes = Buffer.from(delimiter, 'latin1');
  /** A tail of this length may be the beginning of a line break and a delimiter. */
  const tail = dashes.length + 1;
  let state: State = 'start';
  let rest: Buffer = Buffer.alloc(0);
  /** Offset of `rest` in the body. */
  let offset = 0;

  /** Each step returns the number of bytes that it used; 0 if it needs more bytes. */
  const steps: Readonly<Record<State, (bytes: Buffer) => number>> = {
    start,
    delimiter: afterDelimiter,
    head,
    data,
    epilogue,
  };

  function start(bytes: Buffer): number {
    const lineBreak = bytes[0] === 13 ? 2 : 0;
    const expected = lineBreak === 2 ? Buffer.concat([Buffer.from('\r\n'), dashes]) : dashes;
    const length = Math.min(bytes.length, expected.length);
    if (bytes.compare(expected, 0, length, 0, length) !== 0) throw malformedForm('delimiter', offset);
    if (length < expected.length) return 0;
    state = 'delimiter';
    return expected.length;
  }

  function afterDelimiter(bytes: Buffer): number {
    if (bytes.length < 2) return 0;
    const next = bytes.toString('latin1', 0, 2);
    if (next !== '\r\n' && next !== '--') throw malformedForm('delimiter', offset);
    state = next === '--' ? 'epilogue' : 'head';
    return 2;
  }

  function head(bytes: Buffer): number {
    const end = bytes.indexOf(END_OF_HEAD, 0, 'latin1');
    if (end > HEAD_BYTES_MAX || (end === -1 && bytes.length > HEAD_BYTES_MAX + 3)) {
      throw malformedForm('part_headers', offset);
    }
    if (end === -1) return 0;
    const block = bytes.subarray(0, end);
    if (block.includes(dashes)) throw malformedForm('delimiter', offset);
    handler.head(parsePartHead(block, offset));
    state = 'data';
    return end + END_OF_HEAD.length;
  }

  function data(bytes: Buffer): number {
    const found = bytes.indexOf(dashes);
    if (found === -1) {
      const sure = Math.max(0, bytes.length - tail);
      if (sure > 0) handler.data(bytes.subarray(0, sure));
      return sure;
    }
    if (found < 2 || bytes[found - 2] !== 13 || bytes[found - 1] !== 10)
      throw malformedForm('delimiter', offset + found);
    if (found > 2) handler.data(bytes.subarray(0, found - 2));
    handler.end();
    state = 'delimiter';
    return found + dashes.length;
  }

  function epilogue(bytes: Buffer): number {
    const isLineBreak = bytes[0] === 13 && (bytes.length === 1 || (bytes.length === 2 && bytes[1] === 10));
    if (!isLineBreak) throw malformedForm('delimiter', offset);
    return 0;
  }

  return {
    push(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (rest.length > 0) {
        const used = steps[state](rest);
        if (used === 0) break;
        rest = rest.subarray(used);
        offset += used;
      }
      // A small view would keep the whole chunk in memory.
      rest = Buffer.from(rest);
    },
    get isClosed() {
      return state === 'epilogue';
    },
    end() {
      if (state !== 'epilogue' || rest.length === 1) throw malformedForm('unfinished', offset + rest.length);
    },
  };
}
