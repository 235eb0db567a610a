// One line per exchange: the decision record that operators, `explain` and replays read. Never a key, body, cookie or query value.

import { type DestinationStream, type Logger, pino } from 'pino';
import { REFUSALS } from '../errors.ts';
import type { Trail } from '../exchange.ts';
import { createLineBatch } from './batch.ts';
import { createLines } from './line.ts';
import { createRecentLines } from './recent.ts';

export interface Log {
  /** For everything that is not an exchange. */
  readonly logger: Logger;
  exchange(trail: Trail): void;
  /** The latest exchanges with this id, or to which their client gave it. Refusals are kept whether or not they are logged. */
  recent(id: string): readonly Readonly<Record<string, unknown>>[];
  /** Writes out what is buffered. */
  flush(): void;
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

const levels = { info: 30, warn: 40, error: 50 } as const;

/** Of all exchanges, and of refusals: some thousand lines each. */
const RECENT_BYTES = 2_097_152;
const RECENT_REFUSAL_BYTES = 2_097_152;

/** Where text goes; pino's own streams can also be told to write everything out at once. */
interface Output {
  readonly stream: DestinationStream;
  write(bytes: Buffer, done: () => void): void;
  flush(): void;
}

/**
 * Writes to standard output, or line by line to where somebody else wants it.
 *
 * @param worker which of several workers writes; undefined: there is but one process
 */
export function createLog(
  level: LogLevel,
  now: () => number,
  destination?: DestinationStream,
  worker?: number | 'primary',
): Log {
  const output = destination ? outputTo(destination) : standardOutput();
  const base = worker === undefined ? null : { worker };
  const logger = pino({ level, base, timestamp: () => `,"time":${now()}` }, output.stream);
  const lines = createRecentLines({ bytesMax: RECENT_BYTES, refusalBytesMax: RECENT_REFUSAL_BYTES });
  const batch = createLineBatch((bytes, done) => {
    lines.add(bytes);
    output.write(bytes, done);
  });
  const { lineOf } = createLines(worker);

  function exchange(trail: Trail): void {
    const severity = severityOf(trail);
    const isLogged = logger.isLevelEnabled(severity);
    if (!isLogged && trail.code === undefined) return;
    const line = lineOf(trail, levels[severity], now());
    if (isLogged) batch.add(line);
    if (trail.code !== undefined) lines.addRefusal(line);
  }

  function recent(id: string): readonly Readonly<Record<string, unknown>>[] {
    batch.flush();
    return lines.find(id);
  }

  function flush(): void {
    batch.flush();
    output.flush();
  }

  return { logger, exchange, recent, flush };
}

/** Through pino's streams, which know what to do when a pipe is full: one for text, one for bytes. */
function standardOutput(): Output {
  const stream = pino.destination({ dest: 1, sync: false });
  const bytes = pino.destination({ dest: 1, sync: false, contentMode: 'buffer' } as Parameters<
    typeof pino.destination
  >[0]);
  const waiting: { left: number; readonly done: () => void }[] = [];
  bytes.on('write', (count: number) => {
    for (let rest = count; rest > 0 && waiting[0]; ) {
      const taken = Math.min(rest, waiting[0].left);
      waiting[0].left -= taken;
      rest -= taken;
      if (waiting[0].left === 0) waiting.shift()?.done();
    }
  });
  return {
    stream,
    write(buffer, done) {
      waiting.push({ left: buffer.length, done });
      bytes.write(buffer as unknown as string);
    },
    flush() {
      stream.flushSync();
      bytes.flushSync();
    },
  };
}

function outputTo(stream: DestinationStream): Output {
  return { stream, write: (bytes) => stream.write(bytes.toString()), flush: () => undefined };
}

/** Refusals that clients bring about are not worth an alert. */
function severityOf({ code, answerViolations }: Trail): keyof typeof levels {
  if (code === undefined) return answerViolations ? 'warn' : 'info';
  const blame = code in REFUSALS ? REFUSALS[code as keyof typeof REFUSALS].blame : 'client';
  if (blame === 'client') return 'info';
  return blame === 'upstream' ? 'warn' : 'error';
}
