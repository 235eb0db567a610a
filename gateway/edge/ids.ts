// Request ids and trace ids. Random bytes are drawn in blocks, because one system call per request would cost more than the id.

import { randomFillSync } from 'node:crypto';

export interface Ids {
  /** `req_` + 26 characters, sortable by time like a ULID. */
  requestId(): string;
  /** 32 hexadecimal digits, never all zero. */
  traceId(): string;
  /** 16 hexadecimal digits, never all zero. */
  spanId(): string;
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BLOCK_BYTES = 8192;

export function createIds(now: () => number): Ids {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let used = BLOCK_BYTES;
  let prefixAt = -1;
  let prefix = '';

  function take(bytes: number): number {
    if (used + bytes > BLOCK_BYTES) {
      randomFillSync(block);
      used = 0;
    }
    used += bytes;
    return used - bytes;
  }

  function requestId(): string {
    const at = now();
    if (at !== prefixAt) {
      prefixAt = at;
      prefix = `req_${timeCharacters(at)}`;
    }
    let id = prefix;
    const from = take(16);
    for (let i = from; i < from + 16; i++) id += crockford[(block[i] as number) & 31];
    return id;
  }

  function hex(bytes: number): string {
    const from = take(bytes);
    // An id of zeros is invalid (W3C Trace Context, section 3.2.2.3).
    block[from] = (block[from] as number) | 1;
    return block.toString('hex', from, from + bytes);
  }

  return { requestId, traceId: () => hex(16), spanId: () => hex(8) };
}

function timeCharacters(ms: number): string {
  let text = '';
  for (let rest = ms, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = crockford[rest % 32] + text;
  return text;
}
