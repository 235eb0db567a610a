// The record of one exchange, which log, metrics and traces read at its end. Stages get `TrailNotes` instead, which they can only write.

import type { ErrorCode, GatewayError } from '../catalogue/errors.ts';
import type { RareNotes, UsualNotes } from '../catalogue/log-fields.ts';
import { type StageName, TIMED_STAGES, type TimedStage } from '../stages.ts';
import type { Caller } from './caller.ts';
import type { ExchangeState, OrganizationLoad } from './exchange.ts';
import type { ChargedUnits, LimitStates, NotedViolation } from './findings.ts';
import type { TrailNotes } from './notes.ts';
import type { Operation } from './operation.ts';

/** Spans of an exchange whose trace is kept. */
interface TraceNotes {
  /** Span of the exchange itself. */
  readonly spanId: string;
  /** Span of the exchange that has begun this one. */
  readonly parentSpanId?: string;
  /** One member for each attempt to send the request to an upstream. */
  readonly attempts: { readonly spanId: string; readonly beganAt: number; readonly target: string }[];
}

const TIMED = Object.keys(TIMED_STAGES) as TimedStage[];
const STAGE_INDEXES = Object.fromEntries(TIMED.map((stage, index) => [stage, index])) as Readonly<
  Record<TimedStage, number>
>;
/** The times of stages that have not ended. They are NaN and not 0, so that V8 makes an array of fractions from the start. */
const NOT_ENDED: readonly number[] = TIMED.map(() => Number.NaN);

/**
 * The notes about one exchange. The trail is also the state of its exchange, which saves each request an object. All members exist from
 * the start, so that every trail has the same hidden class. The rows of the log fields document the notes.
 */
export class Trail implements ExchangeState, TrailNotes, UsualNotes {
  readonly id: string;
  readonly method: string;
  /** `performance.now()` at arrival. */
  readonly startedAt: number;
  stage: StageName = 'admit';
  /** `performance.now()` at the end of each timed stage, in their order. NaN stands for a stage that was not reached. */
  readonly endedAt: number[] = NOT_ENDED.slice();
  /** Notes that few exchanges have; undefined until the first of them. */
  rare: RareNotes | undefined = undefined;
  clientAddress: string | undefined = undefined;
  clientTraceparent: string | undefined = undefined;
  traceId: string | undefined = undefined;
  trace: TraceNotes | undefined = undefined;
  operation: Operation | undefined = undefined;
  caller: Caller | undefined = undefined;
  limits: LimitStates | undefined = undefined;
  charged: readonly ChargedUnits[] | undefined = undefined;
  limitSource: string | undefined = undefined;
  limitDecidedAtMs: number | undefined = undefined;
  violations: readonly NotedViolation[] | undefined = undefined;
  load: OrganizationLoad | undefined = undefined;
  bytesHeld = 0;
  isUnprotected = false;
  hasOwnBodyTimeout = false;
  queuedMs: number | undefined = undefined;
  target: string | undefined = undefined;
  forwardedAt: number | undefined = undefined;
  attempts = 0;
  upstreamStatus: number | undefined = undefined;
  upstreamMs: number | undefined = undefined;
  bytesIn = 0;
  bytesOut = 0;
  status = 0;
  code: ErrorCode | string | undefined = undefined;
  refusal: GatewayError | undefined = undefined;
  #durationMs: number | undefined = undefined;

  /** @param startedAt `performance.now()` */
  constructor(id: string, method: string, startedAt = performance.now()) {
    this.id = id;
    this.method = method;
    this.startedAt = startedAt;
  }

  /**
   * Returns the milliseconds from arrival until the first call of this function, so that log and metrics give the exchange one duration.
   */
  durationMs(): number {
    this.#durationMs ??= performance.now() - this.startedAt;
    return this.#durationMs;
  }

  noteEnd(stage: TimedStage): void {
    this.endedAt[STAGE_INDEXES[stage]] = performance.now();
  }

  note<Name extends keyof RareNotes>(name: Name, value: RareNotes[Name]): void {
    if (value === undefined && this.rare === undefined) return;
    this.rare ??= {};
    this.rare[name] = value;
  }

  noteQueued(waitedMs: number): void {
    this.queuedMs = (this.queuedMs ?? 0) + waitedMs;
  }

  clientLeft(): void {
    if (this.refusal === undefined) this.status = 499;
  }
}

/** Returns the trail behind the notes of an exchange. The notes of every exchange that the gateway makes are a Trail. */
export function trailOf(notes: TrailNotes): Trail {
  return notes as Trail;
}
