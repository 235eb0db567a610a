// Pure: what the memory of a process on Node consists of, from the system's list of its mappings and from Node's diagnostic report.

export interface Part {
  readonly part: string;
  readonly bytes: number;
}

/** The members of a diagnostic report that are read here. */
interface HeapReport {
  readonly javascriptHeap: {
    readonly heapSpaces: Readonly<Record<string, { readonly committedMemory: number; readonly used: number }>>;
  };
}

/**
 * The resident memory by kind, and of the JavaScript heap by space. The heap is a part of the memory without a file. A space counts with
 * what it has reserved, of which pages that were never written are not resident: so the remainder is a lower bound.
 *
 * @param smaps the content of /proc/PID/smaps
 */
export function partsOf(smaps: string, { javascriptHeap }: HeapReport): Part[] {
  const { files, malloc, anonymous } = residentOf(smaps);
  const spaces = Object.entries(javascriptHeap.heapSpaces).map(([name, { committedMemory }]) => ({
    part: `JavaScript heap: ${name}`,
    bytes: committedMemory,
  }));
  const heap = spaces.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    { part: 'all', bytes: files + malloc + anonymous },
    { part: 'programs and libraries (files)', bytes: files },
    { part: 'malloc ([heap])', bytes: malloc },
    ...spaces,
    { part: 'other, without a file: buffers, threads, malloc', bytes: Math.max(0, anonymous - heap) },
  ];
}

/** `Rss` of all mappings by what stands behind them: a file, the heap of malloc, or nothing. */
function residentOf(smaps: string): { files: number; malloc: number; anonymous: number } {
  const resident = { files: 0, malloc: 0, anonymous: 0 };
  let kind: keyof typeof resident = 'anonymous';
  for (const line of smaps.split('\n')) {
    const [, name] = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) kind = kindOf(name);
    const [, kibibytes] = /^Rss:\s+(\d+) kB/.exec(line) ?? [];
    if (kibibytes !== undefined) resident[kind] += Number(kibibytes) * 1024;
  }
  return resident;
}

function kindOf(name: string): 'files' | 'malloc' | 'anonymous' {
  if (name === '[heap]') return 'malloc';
  return name.startsWith('/') ? 'files' : 'anonymous';
}
