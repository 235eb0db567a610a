// Keeps the latest log lines in memory, for operators who look up one exchange. Copies the bytes of written lines in batches, so that a
// request costs nothing; refusals have a ring of their own, where a thousand successes do not displace them.

export interface RecentLines {
  /** Takes whole lines, as they are written. */
  add(bytes: Uint8Array): void;
  addRefusal(line: string): void;
  /** Returns every exchange with this id or client request id; oldest first, at most 20. */
  find(id: string): Record<string, unknown>[];
}

export interface RecentLinesOptions {
  readonly bytesMax: number;
  readonly refusalBytesMax: number;
}

const FOUND_MAX = 20;
const NEWLINE = 10;

export function createRecentLines({ bytesMax, refusalBytesMax }: RecentLinesOptions): RecentLines {
  const all = createRing(bytesMax);
  const refusals = createRing(refusalBytesMax);
  return {
    add: all.add,
    addRefusal: (line) => refusals.add(Buffer.from(line)),
    find(id) {
      const found = new Map<unknown, Record<string, unknown>>();
      for (const ring of [refusals, all]) {
        for (const entry of ring.find(id)) found.set(entry.request_id, entry);
      }
      const entries = [...found.values()].sort((one, other) => Number(one.time) - Number(other.time));
      const exact = entries.filter((entry) => entry.request_id === id);
      return (exact.length > 0 ? exact : entries).slice(-FOUND_MAX);
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

  function find(id: string): Record<string, unknown>[] {
    if (ring === undefined) return [];
    // Copies some MiB at most, and only for a look-up.
    const bytes = isFull ? Buffer.concat([ring.subarray(end), ring.subarray(0, end)]) : ring.subarray(0, end);
    const found: Record<string, unknown>[] = [];
    const wanted = `request_id":${JSON.stringify(id)}`;
    for (let at = bytes.indexOf(wanted); at !== -1; ) {
      const from = bytes.lastIndexOf(NEWLINE, at) + 1;
      const to = bytes.indexOf(NEWLINE, at);
      const entry = to === -1 ? undefined : entryIn(bytes.toString('utf8', from, to));
      if (entry?.request_id === id || entry?.client_request_id === id) found.push(entry);
      at = to === -1 ? -1 : bytes.indexOf(wanted, to);
    }
    return found;
  }

  return { add, find };
}

/** Returns undefined for an incomplete line, whose beginning was overwritten. */
function entryIn(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
