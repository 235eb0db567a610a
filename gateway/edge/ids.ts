// Creates request ids and trace ids. Random bytes are drawn in blocks, because one system call per request would cost more than the id. The
// bytes become text a piece at a time, and each id is a slice of that text. Joining an id from single characters costs 0.1 µs more, and
// another 0.1 µs in every message that contains the id.

import { randomFillSync } from 'node:crypto';

export interface Ids {
  /** Returns `req_` and 26 characters, sortable by time like a ULID. */
  requestId(): string;
  /** Returns 32 hexadecimal digits, never all zero. */
  traceId(): string;
  /** Returns 16 hexadecimal digits, never all zero. */
  spanId(): string;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CROCKFORD_BYTES = Buffer.from(CROCKFORD);
const BLOCK_BYTES = 8192;
/**
 * The number of bytes that become one text. The text is short, because a slice keeps the whole text in memory and the ids of a stream may
 * live for days.
 */
const PIECE_BYTES = 256;
/** The bytes of a span id. A span or trace id begins at a multiple of this number, with a byte that is not zero. */
const SPAN_BYTES = 8;
const RANDOM_CHARACTERS = 16;

export function createIds(now: () => number): Ids {
  const takeCharacters = createTexts((bytes) => {
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = CROCKFORD_BYTES[(bytes[i] as number) & 31] as number;
    return bytes.toString('latin1');
  }, 1);
  const takeHex = createTexts((bytes) => {
    // An id of zeros is invalid (W3C Trace Context, section 3.2.2.3).
    for (let i = 0; i < bytes.length; i += SPAN_BYTES) bytes[i] = (bytes[i] as number) | 1;
    return bytes.toString('hex');
  }, 2);
  let prefixAt = -1;
  let prefix = '';

  function requestId(): string {
    const at = now();
    if (at !== prefixAt) {
      prefixAt = at;
      prefix = `req_${timeCharacters(at)}`;
    }
    return prefix + takeCharacters(RANDOM_CHARACTERS);
  }

  return { requestId, traceId: () => takeHex(2 * SPAN_BYTES), spanId: () => takeHex(SPAN_BYTES) };
}

/**
 * Returns a function that takes a number of random bytes and returns them as text.
 *
 * @param toText may change the bytes
 * @param width characters of the text for each byte
 */
function createTexts(toText: (bytes: Buffer) => string, width: number): (bytes: number) => string {
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let drawn = BLOCK_BYTES;
  let text = '';
  let used = 0;

  function refill(): void {
    if (drawn === BLOCK_BYTES) {
      randomFillSync(block);
      drawn = 0;
    }
    text = toText(block.subarray(drawn, drawn + PIECE_BYTES));
    drawn += PIECE_BYTES;
    used = 0;
  }

  return (bytes) => {
    if (used + bytes * width > text.length) refill();
    const from = used;
    used += bytes * width;
    return text.slice(from, used);
  };
}

function timeCharacters(ms: number): string {
  let text = '';
  for (let rest = ms, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = CROCKFORD[rest % 32] + text;
  return text;
}
