// Gives memory back to the system while the process is idle. V8 frees the garbage of a start or of a busy time only in its next full
// collection, and does not collect while the process is idle. After a start with the shipped contracts, the process would keep 184 MB, of
// which it needs 130.

interface IdleMemoryOptions {
  /** Returns the CPU time of the process. */
  cpuMicros(): number;
  /** Returns the memory that V8 has for objects, including free memory. */
  heapBytes(): number;
  /** Collects all garbage, and returns free pages to the system. */
  collect(): void;
  /** Returns monotonic milliseconds. */
  clock(): number;
}

export const CHECK_EVERY_MS = 5000;
/** An idle process uses less than this share of a core. */
const IDLE_SHARE_MAX = 0.1;
/**
 * The least growth of the heap since the last collection before another collection. A collection delays requests by 0.1 s, so it must not
 * follow each request of a quiet process.
 */
const GROWN_BYTES_MIN = 16 * 1_048_576;
const PAUSE_MS = 600_000;

/** Returns a function that checks once whether to collect. Call it every CHECK_EVERY_MS. */
export function createIdleMemory({ cpuMicros, heapBytes, collect, clock }: IdleMemoryOptions): () => void {
  let usedMicros = cpuMicros();
  let collectedAt = Number.NEGATIVE_INFINITY;
  let keptBytes = 0;

  return function check() {
    const before = usedMicros;
    usedMicros = cpuMicros();
    const isIdle = usedMicros - before < CHECK_EVERY_MS * 1000 * IDLE_SHARE_MAX;
    if (!isIdle || clock() - collectedAt < PAUSE_MS || heapBytes() - keptBytes < GROWN_BYTES_MIN) return;
    collect();
    collectedAt = clock();
    keptBytes = heapBytes();
    usedMicros = cpuMicros();
  };
}

/**
 * Starts the checks, which continue until the process ends. Has no effect if V8 does not expose `gc`; `bin/gateway` sets the flag for this.
 */
export function giveBackIdleMemory(): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  const check = createIdleMemory({
    cpuMicros() {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    heapBytes: () => process.memoryUsage().heapTotal,
    collect: () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
    clock: () => performance.now(),
  });
  setInterval(check, CHECK_EVERY_MS).unref();
}
