// Reads access logs, one or several, plain or gzipped, in bounded memory, and hands out the requests they record in the order in which
// those were decided.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createInOrder } from '../../limits/in-order.ts';
import { parseRecorded, type Recorded, type Unused } from '../../limits/recorded.ts';
import type { CommandContext } from '../context.ts';

/** No line of the gateway comes near it: what has no line ends is not gathered in memory. */
const LINE_LENGTH_MAX = 65_536;
/** What stands in place of the beginning of a longer line, so that nobody can read the rest as one. */
const CUT_OFF = '\x00';

export interface LinesRead {
  lines: number;
  /** Lines that record no request which limits have counted. */
  readonly unused: Record<Unused, number>;
}

export interface AccessLogs {
  readonly read: LinesRead;
  /** The part of the files that has been read, from 0 to 1; undefined where that is not known. */
  fraction(): number | undefined;
  /** To be called once. */
  eachRequest(take: (recorded: Recorded) => void, onProgress: () => void): Promise<void>;
}

interface OpenLog {
  readonly path: string;
  readonly size: number | undefined;
  readonly pieces: AsyncIterator<readonly string[]>;
  bytesRead(): number;
  /** The time of its last line so far. */
  reachedMs: number;
}

/** `-` is standard input; a name that ends in .gz is a gzipped log. Fails with a sentence when one cannot be read. */
export async function openLogs(
  context: Pick<CommandContext, 'input' | 'fail'>,
  paths: readonly string[],
): Promise<AccessLogs> {
  const logs: OpenLog[] = [];
  for (const path of paths) logs.push(await openLog(context, path));
  const read: LinesRead = { lines: 0, unused: { unreadable: 0, other: 0, before_limits: 0 } };
  const sizes = logs.map(({ size }) => size);

  /** Counts the lines, and gives the requests to `take`. */
  function use(log: OpenLog, lines: readonly string[], take: (recorded: Recorded) => void): void {
    for (const line of lines) {
      read.lines += 1;
      const recorded = parseRecorded(line);
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
      const inOrder = createInOrder();
      const open = new Set(logs);
      for (;;) {
        const log = furthestBehind(open);
        if (log === undefined) break;
        const { value, done } = await next(context, log);
        if (done === true) open.delete(log);
        else {
          use(log, value, (recorded) => {
            const earliest = inOrder.push(recorded);
            if (earliest !== undefined) take(earliest);
          });
        }
        onProgress();
      }
      for (let rest = inOrder.pop(); rest !== undefined; rest = inOrder.pop()) take(rest);
    },
  };
}

/** Logs of several instances overlap: reading on where the least has been read keeps them together. */
function furthestBehind(logs: ReadonlySet<OpenLog>): OpenLog | undefined {
  let behind: OpenLog | undefined;
  for (const log of logs) if (behind === undefined || log.reachedMs < behind.reachedMs) behind = log;
  return behind;
}

async function openLog({ input, fail }: Pick<CommandContext, 'input' | 'fail'>, path: string): Promise<OpenLog> {
  const reachedMs = Number.NEGATIVE_INFINITY;
  if (path === '-') return { path, size: undefined, pieces: linesOf(input()), bytesRead: () => 0, reachedMs };
  const about = await stat(path).catch(({ code }) => fail(`The log ${path} cannot be read (${code}).`));
  if (about.isDirectory()) fail(`${path} is a directory.`);
  const bytes = createReadStream(path);
  const size = about.isFile() ? about.size : undefined;
  // What goes wrong in either of the two is told by whoever reads the second.
  const text = path.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
  return { path, size, pieces: linesOf(text), bytesRead: () => bytes.bytesRead, reachedMs };
}

async function next({ fail }: Pick<CommandContext, 'fail'>, { path, pieces }: OpenLog) {
  try {
    return await pieces.next();
  } catch (error) {
    return fail(`The log ${path} cannot be read to its end (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** Not by node:readline, which is slower and keeps lines of any length. */
async function* linesOf(text: Readable): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const piece of text.setEncoding('utf8')) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_LENGTH_MAX) rest = CUT_OFF;
    yield lines;
  }
  if (rest !== '') yield [rest];
}
