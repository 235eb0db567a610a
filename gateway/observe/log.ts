// One line per exchange: the decision record that operators, `explain` and replays read. Never a key, body, cookie or query value.

import { type DestinationStream, type Logger, pino } from 'pino';
import { REFUSALS } from '../errors.ts';
import type { Trail } from '../exchange.ts';

export interface Log {
  /** For everything that is not an exchange. */
  readonly logger: Logger;
  exchange(trail: Trail): void;
  /** Writes out what is buffered. */
  flush(): void;
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/**
 * pino writes the line itself: pino-http makes a child logger and listeners per request, 13 µs of CPU against 4
 * (docs/decisions/0003-log-line.md). Lines are buffered and written at least every 100 ms.
 */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const stream = destination ?? pino.destination({ dest: 1, sync: false, minLength: 8192, periodicFlush: 100 });
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.epochTime }, stream);
  const logsExchanges = logger.isLevelEnabled('info');

  function exchange(trail: Trail): void {
    const level = levelOf(trail);
    if (level === 'info' && !logsExchanges) return;
    logger[level](toLine(trail), 'exchange');
  }

  return {
    logger,
    exchange,
    flush() {
      if ('flushSync' in stream && typeof stream.flushSync === 'function') stream.flushSync();
    },
  };
}

/** Refusals that clients bring about are not worth an alert. */
function levelOf(trail: Trail): 'info' | 'warn' | 'error' {
  if (trail.code === undefined) return trail.answerViolations ? 'warn' : 'info';
  const blame = trail.code in REFUSALS ? REFUSALS[trail.code as keyof typeof REFUSALS].blame : 'client';
  return blame === 'client' ? 'info' : blame === 'upstream' ? 'warn' : 'error';
}

function toLine(trail: Trail): Record<string, unknown> {
  const { operation, caller, quota } = trail;
  const tightest = quota?.tightest;
  return {
    request_id: trail.id,
    method: trail.method,
    stage: trail.stage,
    status: trail.status,
    code: trail.code,
    operation: operation?.id,
    route: operation?.path,
    organization: caller?.organization?.id,
    tier: caller?.organization?.tier,
    key_id: caller?.subject,
    mode: caller?.mode,
    client: trail.clientAddress,
    client_request_id: trail.clientRequestId,
    trace_id: trail.traceId,
    upstream: trail.target === undefined ? undefined : operation?.upstream,
    target: trail.target,
    upstream_status: trail.upstreamStatus,
    duration_ms: rounded(performance.now() - trail.startedAt),
    upstream_ms: trail.upstreamMs === undefined ? undefined : rounded(trail.upstreamMs),
    bytes_in: trail.bytesIn,
    bytes_out: trail.bytesOut,
    limit: tightest?.policy,
    limit_remaining: tightest?.remaining,
    limit_source: trail.quotaSource,
    decided_at: trail.quotaDecidedAtMs,
    shadow_refused: trail.shadowRefusals,
    answer_violations: trail.answerViolations,
    cause: causeOf(trail),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** The stack only for bugs; everything else is known by its code. */
function causeOf(trail: Trail): string | undefined {
  const { cause } = trail;
  if (!(cause instanceof Error)) return undefined;
  if (trail.code === 'internal_error') return cause.stack;
  const code = (cause as NodeJS.ErrnoException).code;
  return code === undefined ? cause.message : `${code}: ${cause.message}`;
}
