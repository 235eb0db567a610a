// Writes one line per exchange, for operators, `explain` and `limits simulate`. A line never contains a key, body, cookie or query value.

import { type DestinationStream, type Logger, pino } from 'pino';
import { REFUSALS } from '../../catalogue/errors.ts';
import { SLOW_MS } from '../../catalogue/log-fields.ts';
import type { Trail } from '../../exchange/trail.ts';
import type { ExchangeFilter, ExchangeLine, ExchangeOwner } from '../../shared/questions/exchange-filter.ts';
import { createLineOf } from './line.ts';
import { createRecentLines } from './recent.ts';
import { StandardOutput, tellDroppedAtEnd } from './standard-output.ts';
import { bytesOf, createLineBatch, createPending, DROPPED, linesIn } from './waiting-lines.ts';

export interface Log {
  /** The logger of all lines that are not about an exchange. */
  readonly logger: Logger;
  logExchange(trail: Trail): void;
  /**
   * Returns the latest exchanges with this id, or with this client request id. Refusals are in memory even if they are not logged.
   *
   * @param owner the owner of the exchanges; undefined for all exchanges
   */
  recent(id: string, owner?: ExchangeOwner): readonly ExchangeLine[];
  /** Returns the latest exchanges that match a filter, newest first. */
  list(filter: ExchangeFilter): readonly ExchangeLine[];
  /** Writes all buffered lines before the process ends, as long as the output takes them. Returns whether all lines were taken. */
  flush(): boolean;
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

const LEVELS = { info: 30, warn: 40, error: 50 } as const;

/**
 * Bytes of memory for recent lines, in three lists: `bytesMax` for all exchanges, `notableBytesMax` for failed and slow exchanges (some
 * thousand lines each), and `sampleBytesMax` for one exchange of each second.
 */
const RECENT = { bytesMax: 2_097_152, notableBytesMax: 2_097_152, sampleBytesMax: 1_048_576 };
/** Bound for lines that wait for standard output: some 15,000 exchanges. */
const PENDING_BYTES_MAX = 8_388_608;

/** Destination of the lines. */
interface Output {
  readonly stream: DestinationStream;
  write(bytes: Buffer, done: () => void): void;
  flush(): boolean;
}

export interface LogOptions {
  readonly level: LogLevel;
  now(): number;
  /** Destination of the lines; standard output by default. */
  readonly destination?: DestinationStream | undefined;
  /** The worker that writes; undefined if the gateway is a single process. */
  readonly worker?: number | 'primary' | undefined;
  /** Called for lines that standard output did not accept in time. */
  onDropped?(lines: number): void;
}

/** Logs to standard output, or line by line to the destination. */
export function createLog({ level, now, destination, worker, onDropped = () => undefined }: LogOptions): Log {
  const output = destination ? outputTo(destination) : standardOutput(onDropped, (dropped) => tellDropped(dropped));
  const base = worker === undefined ? null : { worker };
  const logger = pino({ level, base, timestamp: () => `,"time":${now()}` }, output.stream);
  const lines = createRecentLines({ ...RECENT, clock: () => performance.now() });
  const batch = createLineBatch((bytes, done) => {
    lines.add(bytes);
    output.write(bytes, done);
  });
  const lineOf = createLineOf(worker);

  function tellDropped(dropped: number): void {
    logger.warn({ dropped }, DROPPED);
  }

  function logExchange(trail: Trail): void {
    const severity = severityOf(trail);
    const isLogged = logger.isLevelEnabled(severity);
    if (!isLogged && trail.code === undefined) return;
    const line = lineOf(trail, LEVELS[severity], now());
    if (isLogged) batch.add(line);
    if (isNotable(trail)) lines.addNotable(line, trail.code);
  }

  function recent(id: string, owner?: ExchangeOwner): readonly ExchangeLine[] {
    batch.flush();
    return lines.find(id, owner);
  }

  function list(filter: ExchangeFilter): readonly ExchangeLine[] {
    batch.flush();
    return lines.list(filter);
  }

  function flush(): boolean {
    batch.flush();
    return output.flush();
  }

  return { logger, logExchange, recent, list, flush };
}

/**
 * Creates the output for all lines. Lines of exchanges and other lines share one queue, because a full pipe accepts only a part of a write,
 * and a second queue would then write into the middle of a line. The number of waiting lines is bounded.
 */
function standardOutput(onDropped: (lines: number) => void, onFlowing: (dropped: number) => void): Output {
  const output = new StandardOutput();
  const pending = createPending({ bytesMax: PENDING_BYTES_MAX, onDropped, onFlowing });

  function write(bytes: Buffer, done: () => void): void {
    if (!pending.take(bytes.length, () => linesIn(bytes))) {
      done();
      return;
    }
    output.write(bytes, (lostLines) => {
      done();
      if (lostLines > 0) pending.noteLost(bytes.length, lostLines);
      else pending.noteWritten(bytes.length);
    });
  }

  return {
    stream: { write: (text) => write(bytesOf(text), () => undefined) },
    write,
    flush() {
      output.end();
      const lost = pending.takeUnreported();
      if (lost > 0) tellDroppedAtEnd(lost);
      return lost === 0;
    },
  };
}

function outputTo(stream: DestinationStream): Output {
  return { stream, write: (bytes) => stream.write(bytes.toString()), flush: () => true };
}

function isNotable({ code, status, upstreamMs }: Trail): boolean {
  return code !== undefined || status >= 500 || (upstreamMs !== undefined && upstreamMs >= SLOW_MS);
}

/** Returns the level of a line. Refusals that clients cause are logged below the levels of alerts. */
function severityOf({ code, rare }: Trail): keyof typeof LEVELS {
  if (code === undefined) return rare?.answerViolations ? 'warn' : 'info';
  const blame = Object.hasOwn(REFUSALS, code) ? REFUSALS[code as keyof typeof REFUSALS].blame : 'client';
  if (blame === 'client') return 'info';
  return blame === 'upstream' ? 'warn' : 'error';
}
