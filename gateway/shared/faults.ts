// Reports faults: errors in callbacks of sockets and timers, and at the end of a turn, where throwing cannot refuse a request. A fault ends
// only its exchange or connection, and the process continues.

type Report = (thrown: unknown) => void;

const reports = new Set<Report>();

/** Calls `report` with every fault of this process. Returns a function that unsubscribes. */
export function onFault(report: Report): () => void {
  reports.add(report);
  return () => void reports.delete(report);
}

/** Reports a fault. Emits a process warning while no gateway runs in this process. Never throws. */
export function reportFault(thrown: unknown): void {
  try {
    if (reports.size === 0) process.emitWarning(thrown instanceof Error ? thrown : String(thrown));
    for (const report of reports) report(thrown);
  } catch (error) {
    process.emitWarning(error as Error);
  }
}

/**
 * Runs a callback and reports the error it throws, if any.
 *
 * @param otherwise called with the error, to end the exchange or connection
 */
export function contain(work: () => void, otherwise?: (thrown: unknown) => void): void {
  try {
    work();
  } catch (thrown) {
    reportFault(thrown);
    if (otherwise !== undefined) contain(() => otherwise(thrown));
  }
}
