// Keeps the latest log lines in memory, for operators who look up exchanges. The bytes of written lines are copied in batches, which costs
// an ordinary request nothing. A second ring contains refused, failed and slow exchanges, which successes cannot displace there. The latest
// lines of each code are kept separately, so that a flood of one code displaces no lines of another. A third ring contains one exchange of
// each second, and covers a longer time.

import {
  type ExchangeFilter,
  type ExchangeLine,
  type ExchangeOwner,
  inOrderOfExchanges,
} from '../../shared/questions/exchange-filter.ts';
import { type Matches, matcherOf, timeIn } from './line-matcher.ts';

export interface RecentLines {
  /** Takes whole lines, as they are written. */
  add(bytes: Uint8Array): void;
  /** Adds the line of an exchange that failed or was slow. `code` is undefined if the exchange has no error code. */
  addNotable(line: string, code: string | undefined): void;
  /**
   * Returns the exchanges with this id or client request id, oldest first, at most 20.
   *
   * @param owner the owner of the exchanges; undefined for all exchanges
   */
  find(id: string, owner?: ExchangeOwner): ExchangeLine[];
  /** Returns the latest exchanges that a filter lets through, the newest first. */
  list(filter: ExchangeFilter): ExchangeLine[];
}

interface RecentLinesOptions {
  readonly bytesMax: number;
  readonly notableBytesMax: number;
  /** Size of the ring that keeps one exchange a second. */
  readonly sampleBytesMax: number;
  /** Monotonic milliseconds. */
  clock(): number;
}

const FOUND_MAX = 20;
const NEWLINE = 10;
const SAMPLED_EVERY_MS = 1000;
/** The largest number of codes whose lines are kept apart. It is bounded, because services may invent codes. */
const CODES_MAX = 200;
const LINES_PER_CODE = 20;

export function createRecentLines(options: RecentLinesOptions): RecentLines {
  const { clock } = options;
  const all = createLineRing(options.bytesMax);
  const notable = createLineRing(options.notableBytesMax);
  const sampled = createLineRing(options.sampleBytesMax);
  const byCode = createCodeLines();
  let sampledAt = Number.NEGATIVE_INFINITY;

  /** Reads each ring and the lines of each code until it has found enough. */
  function search(needle: string, matches: Matches, limit: number, code?: string): ExchangeLine[] {
    const rings = [all, notable, sampled].map((ring) => ring.linesWith(needle));
    const found = [byCode.linesWith(needle, code), ...rings].flatMap((lines) => exchangesIn(lines, matches, limit));
    return inOrderOfExchanges(found);
  }

  return {
    add(bytes) {
      all.add(bytes);
      if (clock() - sampledAt < SAMPLED_EVERY_MS) return;
      sampledAt = clock();
      sampled.add(bytes.subarray(0, bytes.indexOf(NEWLINE) + 1));
    },
    addNotable(line, code) {
      notable.addText(line);
      if (code !== undefined) byCode.add(code, line);
    },
    find(id, owner) {
      const { matches } = matcherOf({ ...owner, limit: FOUND_MAX });
      for (const member of ['request_id', 'client_request_id']) {
        const found = search(`"${member}":${JSON.stringify(id)}`, matches, FOUND_MAX);
        const named = found.filter((entry) => entry[member] === id);
        if (named.length > 0) return named.slice(0, FOUND_MAX).reverse();
      }
      return [];
    },
    list(filter) {
      const { needle, matches } = matcherOf(filter);
      return search(needle, matches, filter.limit, filter.code).slice(0, filter.limit);
    },
  };
}

/**
 * Parses the lines that match, the newest first. Returns more than `limit` lines if several exchanges ended in the same millisecond as the
 * last exchange, because the order of their lines says nothing.
 */
function exchangesIn(newestFirst: Iterable<string>, matches: Matches, limit: number): ExchangeLine[] {
  const found: ExchangeLine[] = [];
  let lastMs = 0;
  for (const line of newestFirst) {
    if (found.length >= limit && timeIn(line) < lastMs) break;
    let exchange: ExchangeLine | undefined;
    const read = () => {
      exchange ??= exchangeIn(line);
      return exchange;
    };
    const entry = matches(line, read) ? read() : undefined;
    if (entry === undefined) continue;
    found.push(entry);
    if (found.length === limit) lastMs = Number(entry.time);
  }
  return found;
}

/** Parses a line. Returns undefined if its beginning was overwritten, or if it is not about an exchange. */
function exchangeIn(line: string): ExchangeLine | undefined {
  try {
    const exchange = JSON.parse(line) as ExchangeLine;
    return exchange.request_id === undefined ? undefined : exchange;
  } catch {
    return undefined;
  }
}

/** Creates the memory for the latest lines of each code. */
function createCodeLines() {
  const lines = new Map<string, { readonly kept: string[]; next: number }>();
  return {
    add(code: string, line: string): void {
      let entry = lines.get(code);
      if (entry === undefined) {
        if (lines.size >= CODES_MAX) return;
        entry = { kept: [], next: 0 };
        lines.set(code, entry);
      }
      entry.kept[entry.next] = line;
      entry.next = (entry.next + 1) % LINES_PER_CODE;
    },
    /** Returns the lines that contain a text, newest first. */
    linesWith(needle: string, code?: string): string[] {
      const entries = code === undefined ? [...lines.values()] : [lines.get(code) ?? { kept: [] }];
      const found = entries.flatMap(({ kept }) => kept.filter((line) => line.includes(needle)));
      return found
        .map((line) => ({ line, time: timeIn(line) }))
        .sort((one, other) => other.time - one.time)
        .map(({ line }) => line);
    },
  };
}

interface LineRing {
  /** Takes whole lines. */
  add(bytes: Uint8Array): void;
  addText(line: string): void;
  /** Yields the lines that contain a text, newest first, without their newlines. The oldest line may lack its beginning. */
  linesWith(needle: string): Generator<string, void, undefined>;
}

/**
 * Creates a ring of a fixed number of bytes, in which new lines overwrite the oldest. A search compares bytes, and decodes only the lines
 * that it finds, because decoding all lines takes ten times as long.
 */
function createLineRing(bytesMax: number): LineRing {
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
    // A character takes at most three bytes. Most lines fit before the end of the ring, and are encoded in their place.
    if (line.length * 3 < bytesMax - end) end += ring.write(line, end);
    else add(Buffer.from(line));
  }

  /** Returns the pieces of the ring, newest first: after the write position, across the end of the buffer, and before that. */
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

/** Yields the whole lines of a piece. Its last line may be cut off, and is then left out. */
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
