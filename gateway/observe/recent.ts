// Keeps the latest log lines in memory, for operators who look up exchanges. Copies the bytes of written lines in batches, so that an
// ordinary request costs nothing. Refused, failed and slow exchanges have a ring of their own, where a thousand successes do not displace
// them; so does each code, where a flood of another code does not; and one exchange a second is kept for longer.

import type { ExchangeFilter, ExchangeLine } from '../shared/exchange-filter.ts';
import { matcherOf } from './line-matcher.ts';

export interface RecentLines {
  /** Takes whole lines, as they are written. */
  add(bytes: Uint8Array): void;
  /** Takes the line of an exchange that failed or was slow; `code` if it was refused or failed with one. */
  addNotable(line: string, code: string | undefined): void;
  /** Returns every exchange with this id or client request id; oldest first, at most 20. */
  find(id: string): ExchangeLine[];
  /** Returns the latest exchanges that a filter lets through, the newest first. */
  list(filter: ExchangeFilter): ExchangeLine[];
}

export interface RecentLinesOptions {
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
/** Codes with lines of their own; services may invent further ones. */
const CODES_MAX = 200;
const LINES_PER_CODE = 20;

export function createRecentLines(options: RecentLinesOptions): RecentLines {
  const { clock } = options;
  const all = createRing(options.bytesMax);
  const notable = createRing(options.notableBytesMax);
  const sampled = createRing(options.sampleBytesMax);
  const byCode = createCodeLines();
  let sampledAt = Number.NEGATIVE_INFINITY;

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
    find(id) {
      const named = ['request_id', 'client_request_id'].map((member) => `"${member}":${JSON.stringify(id)}`);
      const found = unique(
        [byCode.text(), sampled.text(), notable.text(), all.text()].flatMap((text) =>
          named.flatMap((needle) => recordsIn(text, needle, () => true, FOUND_MAX)),
        ),
      ).reverse();
      const exact = found.filter((entry) => entry.request_id === id);
      const ofClient = found.filter((entry) => entry.client_request_id === id);
      return (exact.length > 0 ? exact : ofClient).slice(-FOUND_MAX);
    },
    list(filter) {
      const { needle, matches } = matcherOf(filter);
      const texts = [byCode.text(filter.code), sampled.text(), notable.text(), all.text()];
      return unique(texts.flatMap((text) => recordsIn(text, needle, matches, filter.limit))).slice(0, filter.limit);
    },
  };
}

/** Each exchange once, the newest first. */
function unique(records: readonly ExchangeLine[]): ExchangeLine[] {
  const byId = new Map(records.map((record) => [record.request_id, record]));
  return [...byId.values()].sort((one, other) => Number(other.time) - Number(one.time));
}

/** Reads lines from the end, and parses only those that contain the needle and match. */
function recordsIn(
  text: string,
  needle: string,
  matches: (line: string, record: () => ExchangeLine | undefined) => boolean,
  limit: number,
): ExchangeLine[] {
  const found: ExchangeLine[] = [];
  let end = text.length;
  while (end > 0 && found.length < limit) {
    const at = text.lastIndexOf(needle, end - 1);
    if (at === -1) break;
    const from = text.lastIndexOf('\n', at - 1) + 1;
    const to = text.indexOf('\n', at);
    const line = to === -1 ? '' : text.slice(from, to);
    let record: ExchangeLine | undefined;
    const read = () => {
      record ??= recordIn(line);
      return record;
    };
    const isWanted = line !== '' && matches(line, read);
    const entry = isWanted ? read() : undefined;
    if (entry !== undefined) found.push(entry);
    end = from;
  }
  return found;
}

/** Returns undefined for an incomplete line, whose beginning was overwritten, and for one that is about no exchange. */
function recordIn(line: string): ExchangeLine | undefined {
  try {
    const record = JSON.parse(line) as ExchangeLine;
    return record.request_id === undefined ? undefined : record;
  } catch {
    return undefined;
  }
}

/** The latest lines of each code. */
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
    text(code?: string): string {
      const entries = code === undefined ? [...lines.values()] : [lines.get(code) ?? { kept: [], next: 0 }];
      return entries.flatMap(({ kept, next }) => [...kept.slice(next), ...kept.slice(0, next)]).join('');
    },
  };
}

/** Keeps bytes in order of arrival; new ones overwrite the oldest. */
function createRing(bytesMax: number) {
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

  /** Decodes some MiB at most, and only for a look-up. */
  function text(): string {
    if (ring === undefined) return '';
    return (isFull ? Buffer.concat([ring.subarray(end), ring.subarray(0, end)]) : ring.subarray(0, end)).toString();
  }

  return { add, addText, text };
}
