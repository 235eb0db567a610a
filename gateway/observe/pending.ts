// Pure: bounds the log lines that wait while standard output takes none. Without a bound, a reader that stops would fill the memory; what
// does not fit is dropped, counted, and told when output flows again.

export interface PendingOptions {
  readonly bytesMax: number;
  /** Lines did not fit. */
  onDropped(lines: number): void;
  /** At least half of the bound is free again: so many lines were dropped since the last time. May write. */
  onFlowing(dropped: number): void;
}

export interface Pending {
  /** Whether so many bytes may be handed to the output; otherwise they are dropped, and only then `lines` is asked how many they are. */
  take(bytes: number, lines: () => number): boolean;
  /** The output has written so many bytes. */
  written(bytes: number): void;
  /** The output has written everything. */
  clear(): void;
}

/** What is logged when output flows again, with the number of lines as `dropped`. */
export const DROPPED = 'log lines were dropped because standard output did not take them';

const NEWLINE = 10;

export function createPending({ bytesMax, onDropped, onFlowing }: PendingOptions): Pending {
  let pending = 0;
  let dropped = 0;

  function written(bytes: number): void {
    pending = Math.max(0, pending - bytes);
    if (dropped === 0 || pending * 2 > bytesMax) return;
    const told = dropped;
    dropped = 0;
    onFlowing(told);
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
    clear: () => written(pending),
  };
}

/** How many lines end in these bytes. */
export function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

/** Memory of its own: a small Buffer of Node's pool that waits would keep many kilobytes of neighbours. */
export function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
