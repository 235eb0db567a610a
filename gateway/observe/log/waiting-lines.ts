// The log lines that wait for the output. The lines are collected in buffers, so that one system call writes hundreds of lines. Their size
// is bounded, because a reader that stops would otherwise fill the memory. Lines that do not fit are dropped and counted, and reported when
// the output continues.

/** A batch is written at this size, or after this time. */
const BATCH_BYTES = 131_072;
const BATCH_MS = 100;
const BUFFER_BYTES = BATCH_BYTES + 32_768;
/** The number of buffers that are kept for reuse, because allocating memory of this size costs more than everything else about a line. */
const SPARE_MAX = 4;

interface LineBatch {
  add(line: string): void;
  /** Writes the collected lines. */
  flush(): void;
}

/** Creates a batch. `write` receives bytes that stay unchanged until it calls `done`. */
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
    // A character takes at most three bytes of UTF-8 (the two of a surrogate pair take four together).
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

interface PendingOptions {
  readonly bytesMax: number;
  /** Called with the number of lines that did not fit. */
  onDropped(lines: number): void;
  /** Called when at least half of the bound is free again, with the number of lines dropped since the last call. May write. */
  onFlowing(dropped: number): void;
}

interface PendingLines {
  /** Returns whether the bytes fit. If not, they are counted as dropped, and only then `lines` is called to count them. */
  take(bytes: number, lines: () => number): boolean;
  /** Call it when the output has written this many bytes. */
  noteWritten(bytes: number): void;
  /** Call it when the output has dropped this many bytes and lines. */
  noteLost(bytes: number, lines: number): void;
  /** Returns the number of dropped lines that were not reported yet, and counts them as reported. */
  takeUnreported(): number;
}

/** The message of the log line that reports dropped lines. Its member `dropped` is their number. */
export const DROPPED = 'log lines were dropped because standard output did not take them';

const NEWLINE = 10;

export function createPending({ bytesMax, onDropped, onFlowing }: PendingOptions): PendingLines {
  let pending = 0;
  let dropped = 0;

  function written(bytes: number): void {
    pending = Math.max(0, pending - bytes);
    if (dropped === 0 || pending * 2 > bytesMax) return;
    const reported = dropped;
    dropped = 0;
    onFlowing(reported);
  }

  return {
    take(bytes, lines) {
      if (pending + bytes > bytesMax) {
        const count = lines();
        dropped += count;
        onDropped(count);
        return false;
      }
      pending += bytes;
      return true;
    },
    noteWritten: written,
    noteLost(bytes, lines) {
      pending = Math.max(0, pending - bytes);
      dropped += lines;
      onDropped(lines);
    },
    takeUnreported() {
      const unreported = dropped;
      dropped = 0;
      return unreported;
    },
  };
}

/** Returns the number of lines that end in these bytes. */
export function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

/** Encodes a text outside of Node's pool, because a small Buffer of the pool would keep the whole pool in memory while it waits. */
export function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
