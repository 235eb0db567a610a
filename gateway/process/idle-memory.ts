// Gives memory back to the system while the process is idle. V8 keeps what the start or a busy time has taken until its next full
// collection, and an idle process makes none: 184 MB instead of 130 after a start with the shipped contracts.

interface IdleMemoryOptions {
  /** CPU time that the process has used. */
  cpuMicros(): number;
  /** Memory that V8 holds for objects, in use or not. */
  heapBytes(): number;
  /** Collects all garbage, and gives the pages back. */
  collect(): void;
  /** Milliseconds, monotonic. */
  clock(): number;
}

export const LOOK_EVERY_MS = 5000;
/** An idle process uses less than this share of a core. */
const IDLE_SHARE_MAX = 0.1;
/** A collection holds requests up for 0.1 s: it has to free this much at least, and does not follow each request of a quiet process. */
const GROWN_BYTES_MIN = 16 * 1_048_576;
const PAUSE_MS = 600_000;

/** Returns the look, which is to be called every LOOK_EVERY_MS. */
export function createIdleMemory({ cpuMicros, heapBytes, collect, clock }: IdleMemoryOptions): () => void {
  let usedMicros = cpuMicros();
  let collectedAt = Number.NEGATIVE_INFINITY;
  let keptBytes = 0;

  return function look() {
    const before = usedMicros;
    usedMicros = cpuMicros();
    const isIdle = usedMicros - before < LOOK_EVERY_MS * 1000 * IDLE_SHARE_MAX;
    if (!isIdle || clock() - collectedAt < PAUSE_MS || heapBytes() - keptBytes < GROWN_BYTES_MIN) return;
    collect();
    collectedAt = clock();
    keptBytes = heapBytes();
    usedMicros = cpuMicros();
  };
}

/** Starts to look, for as long as the process runs. Only if V8 lets its owner collect, which `bin/gateway` asks for. */
export function giveBackIdleMemory(): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  const look = createIdleMemory({
    cpuMicros() {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    heapBytes: () => process.memoryUsage().heapTotal,
    collect: () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
    clock: () => performance.now(),
  });
  setInterval(look, LOOK_EVERY_MS).unref();
}
