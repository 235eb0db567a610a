// Pure: bounds the log lines that wait while standard output accepts none. Without a bound, a reader that stops would fill the memory.
// Lines that do not fit are dropped and counted, and reported when output continues.

interface PendingOptions {
  readonly bytesMax: number;
  /** Called for lines that did not fit. */
  onDropped(lines: number): void;
  /** Called when at least half of the bound is free again, with the number of lines dropped since the last call. May write. */
  onFlowing(dropped: number): void;
}

export interface Pending {
  /** Returns whether the bytes fit; otherwise they count as dropped, and only then `lines` is called to count them. */
  take(bytes: number, lines: () => number): boolean;
  /** The output has written this many bytes. */
  written(bytes: number): void;
  /** The output has dropped this many bytes and lines after all. */
  lost(bytes: number, lines: number): void;
  /** The number of dropped lines that were not reported yet. They count as reported then. */
  takeUnreported(): number;
}

/** Message of the log line that reports dropped lines; their number is its member `dropped`. */
export const DROPPED = 'log lines were dropped because standard output did not take them';

const NEWLINE = 10;

export function createPending({ bytesMax, onDropped, onFlowing }: PendingOptions): Pending {
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
    written,
    lost(bytes, lines) {
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

/** Number of lines that end in these bytes. */
export function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

/** Allocates memory of its own: a small Buffer of Node's pool would keep many kilobytes of its neighbours alive while it waits. */
export function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
