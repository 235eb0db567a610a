// Pure: reads the summary that `perf trace --summary` prints.

const THREAD = /^ (.+) \((\d+)\), \d+ events/;
const CALL = /^ {3}([a-z_0-9]+) +(\d+) +\d+ +[\d.]+ /;

interface ThreadCalls {
  readonly threadId: number;
  /** Number of calls by the name of the system call. */
  readonly calls: Readonly<Record<string, number>>;
}

/** Returns the calls of each thread. */
export function callsIn(summary: string): ThreadCalls[] {
  const threads: { threadId: number; calls: Record<string, number> }[] = [];
  for (const line of summary.split('\n')) {
    const [, , threadId] = THREAD.exec(line) ?? [];
    if (threadId !== undefined) threads.push({ threadId: Number(threadId), calls: {} });
    const [, name, count] = CALL.exec(line) ?? [];
    const thread = threads.at(-1);
    if (name !== undefined && thread !== undefined) thread.calls[name] = (thread.calls[name] ?? 0) + Number(count);
  }
  return threads;
}

/** Adds the calls of all threads up by name. */
export function summedCalls(threads: readonly ThreadCalls[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const { calls } of threads) {
    for (const [name, count] of Object.entries(calls)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}
