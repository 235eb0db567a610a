// Errors thrown where no request can be refused for them: in callbacks of sockets and timers, and at the end of a turn. A fault is
// reported, and ends no more than the exchange or connection that it happened in; the process goes on.

type Report = (thrown: unknown) => void;

const reports = new Set<Report>();

/** Has every fault of this process reported. Returns how to stop that. */
export function onFault(report: Report): () => void {
  reports.add(report);
  return () => void reports.delete(report);
}

/** Reports what was thrown; as a warning of the process while no gateway runs in it. Never throws. */
export function reportFault(thrown: unknown): void {
  try {
    if (reports.size === 0) process.emitWarning(thrown instanceof Error ? thrown : String(thrown));
    for (const report of reports) report(thrown);
  } catch (error) {
    process.emitWarning(error as Error);
  }
}

/**
 * Runs a callback whose errors have no other place to go.
 *
 * @param otherwise gets what was thrown; ends what the callback could not: an exchange or a connection
 */
export function contain(work: () => void, otherwise?: (thrown: unknown) => void): void {
  try {
    work();
  } catch (thrown) {
    reportFault(thrown);
    if (otherwise !== undefined) contain(() => otherwise(thrown));
  }
}
