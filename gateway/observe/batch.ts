// Collects lines in buffers, so that one write to the system serves hundreds of them. Each line is turned into bytes at once, while it is
// warm: text that waits as text costs 5 µs more of CPU per line when it is finally flattened (measured through the gateway).

/** Written when so much has come together, or after so long. */
const BATCH_BYTES = 131_072;
const BATCH_MS = 100;
const BUFFER_BYTES = BATCH_BYTES + 32_768;
/** Buffers kept for reuse: fresh memory of this size costs more than everything else about a line. */
const SPARE_MAX = 4;

export interface LineBatch {
  add(line: string): void;
  /** Hands out what has been collected. */
  flush(): void;
}

/** `write` gets bytes that stay as they are until it calls `done`. */
export function createLineBatch(write: (bytes: Buffer, done: () => void) => void): LineBatch {
  const spare: Buffer[] = [];
  let buffer: Buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  let used = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (used === 0) return;
    const written = buffer;
    write(written.subarray(0, used), () => {
      if (spare.length < SPARE_MAX) spare.push(written);
    });
    buffer = spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
    used = 0;
  }

  function add(line: string): void {
    // A character takes at most three bytes of UTF-8 (two of a surrogate pair four together).
    if (line.length * 3 > BUFFER_BYTES - used) {
      flush();
      if (line.length * 3 > BUFFER_BYTES) {
        write(Buffer.from(line), () => undefined);
        return;
      }
    }
    used += buffer.write(line, used);
    if (used >= BATCH_BYTES) flush();
    else timer ??= setTimeout(flush, BATCH_MS);
  }

  return { add, flush };
}
