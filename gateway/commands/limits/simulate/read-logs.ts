// Reads one or several access logs, plain or gzipped, in bounded memory, and yields their requests in the order of the limit decisions.

import type { CommandContext } from '../../context.ts';
import { nextLines, type OpenLines, openLines } from '../../log-lines.ts';
import { type LoggedRequest, parseLoggedRequest, type SkipReason } from './logged-request.ts';
import { createReorderBuffer } from './reorder-buffer.ts';

export interface LinesRead {
  lines: number;
  /** Lines without a request that limits have counted, by reason. */
  readonly unused: Record<SkipReason, number>;
}

interface AccessLogs {
  readonly read: LinesRead;
  /** Returns the part of the files that was read so far, 0 to 1; undefined if a size is unknown. */
  fraction(): number | undefined;
  /** Calls `take` for each request. May be called once. */
  eachRequest(take: (recorded: LoggedRequest) => void, onProgress: () => void): Promise<void>;
}

interface OpenLog extends OpenLines {
  /** Time of its last line so far, epoch milliseconds. */
  reachedMs: number;
}

/** Opens logs: `-` is standard input, `.gz` a gzipped file. Fails with a sentence if a log cannot be read. */
export async function openLogs(
  context: Pick<CommandContext, 'input' | 'fail'>,
  paths: readonly string[],
): Promise<AccessLogs> {
  const logs: OpenLog[] = [];
  for (const path of paths) logs.push(await openLog(context, path));
  const read: LinesRead = { lines: 0, unused: { unreadable: 0, other: 0, before_limits: 0 } };
  const sizes = logs.map(({ size }) => size);

  /** Counts the lines and passes the requests to `take`. */
  function use(log: OpenLog, lines: readonly string[], take: (recorded: LoggedRequest) => void): void {
    for (const line of lines) {
      read.lines += 1;
      const recorded = parseLoggedRequest(line);
      if (typeof recorded === 'string') {
        read.unused[recorded] += 1;
        continue;
      }
      log.reachedMs = Math.max(log.reachedMs, recorded.writtenAtMs);
      take(recorded);
    }
  }

  return {
    read,
    fraction() {
      if (sizes.includes(undefined)) return undefined;
      const size = sizes.reduce((sum: number, one = 0) => sum + one, 0);
      return size === 0 ? 1 : logs.reduce((sum, { bytesRead }) => sum + bytesRead(), 0) / size;
    },
    async eachRequest(take, onProgress) {
      const buffer = createReorderBuffer();
      const open = new Set(logs);
      for (;;) {
        const log = furthestBehind(open);
        if (log === undefined) break;
        const { value, done } = await nextLines(context, log);
        if (done === true) open.delete(log);
        else {
          use(log, value, (recorded) => {
            const earliest = buffer.push(recorded);
            if (earliest !== undefined) take(earliest);
          });
        }
        onProgress();
      }
      for (let rest = buffer.pop(); rest !== undefined; rest = buffer.pop()) take(rest);
    },
  };
}

/**
 * Returns the log whose last line is the earliest. Logs of several instances overlap, and reading this log next keeps their times together.
 */
function furthestBehind(logs: ReadonlySet<OpenLog>): OpenLog | undefined {
  let behind: OpenLog | undefined;
  for (const log of logs) if (behind === undefined || log.reachedMs < behind.reachedMs) behind = log;
  return behind;
}

async function openLog(context: Pick<CommandContext, 'input' | 'fail'>, path: string): Promise<OpenLog> {
  return { ...(await openLines(context, path)), reachedMs: Number.NEGATIVE_INFINITY };
}
