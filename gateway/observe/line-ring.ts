// The latest log lines in a fixed number of bytes: new ones overwrite the oldest. A search reads the bytes, and decodes the lines that it
// finds: decoding all of them takes ten times as long.

const NEWLINE = 10;

interface LineRing {
  /** Takes whole lines. */
  add(bytes: Uint8Array): void;
  addText(line: string): void;
  /** Yields the lines that contain a text, the newest first, without their newlines. The oldest one may lack its beginning. */
  linesWith(needle: string): Generator<string, void, undefined>;
}

export function createLineRing(bytesMax: number): LineRing {
  let ring: Buffer | undefined;
  let end = 0;
  let isFull = false;

  function add(bytes: Uint8Array): void {
    // Allocated at the first use; untouched pages take no physical memory.
    ring ??= Buffer.allocUnsafeSlow(bytesMax);
    const kept = bytes.length > bytesMax ? bytes.subarray(bytes.length - bytesMax) : bytes;
    const first = Math.min(kept.length, bytesMax - end);
    ring.set(kept.subarray(0, first), end);
    ring.set(kept.subarray(first), 0);
    isFull ||= end + kept.length >= bytesMax;
    end = (end + kept.length) % bytesMax;
  }

  function addText(line: string): void {
    ring ??= Buffer.allocUnsafeSlow(bytesMax);
    // A character takes at most three bytes: most lines fit before the end of the ring, and are encoded in their place.
    if (line.length * 3 < bytesMax - end) end += ring.write(line, end);
    else add(Buffer.from(line));
  }

  /** The lines in order, the newest first: those behind the end of the ring, the one that goes across it, and those before it. */
  function pieces(): Buffer[] {
    if (ring === undefined) return [];
    const newer = ring.subarray(0, end);
    if (!isFull) return [newer];
    const older = ring.subarray(end);
    const acrossFrom = older.lastIndexOf(NEWLINE) + 1;
    const acrossTo = newer.indexOf(NEWLINE) + 1;
    const across = Buffer.concat([older.subarray(acrossFrom), newer.subarray(0, acrossTo)]);
    return [newer.subarray(acrossTo), across, older.subarray(0, acrossFrom)];
  }

  return {
    add,
    addText,
    *linesWith(needle) {
      const bytes = Buffer.from(needle);
      for (const piece of pieces()) yield* linesIn(piece, bytes);
    },
  };
}

/** Yields whole lines only: the last one of a piece may have been cut off. */
function* linesIn(piece: Buffer, needle: Buffer): Generator<string, void, undefined> {
  for (let end = piece.length; end > 0; ) {
    const at = piece.lastIndexOf(needle, end - 1);
    if (at === -1) return;
    const from = at === 0 ? 0 : piece.lastIndexOf(NEWLINE, at - 1) + 1;
    const to = piece.indexOf(NEWLINE, at);
    if (to !== -1) yield piece.toString('utf8', from, to);
    end = from;
  }
}
