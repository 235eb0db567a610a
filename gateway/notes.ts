// The trail of an exchange as stages see it: notes for log, metrics and traces, which they write and cannot read.

import type { Caller } from './caller.ts';
import type { ErrorCode } from './error-catalogue.ts';
import type { GatewayError } from './errors.ts';
import type { Charged, LimitStates, NotedViolation, RetryReason, StreamEnd, StreamKind } from './findings.ts';
import type { Operation } from './operation.ts';
import type { StageName, TimedStage } from './stages.ts';

/** What few exchanges have. */
export interface RareNotes {
  /** Name of the tunnel, where there is no operation. */
  tunnel?: string | undefined;
  /** The kind of stream that the client got. */
  stream?: StreamKind | undefined;
  /** Why the gateway ended the stream; absent if the client or the upstream did. */
  streamEnd?: StreamEnd | undefined;
  clientRequestId?: string | undefined;
  /** Shadow limits that would have refused the request. */
  shadowRefusals?: readonly string[] | undefined;
  /** The client got the stored answer to an earlier request with the same Idempotency-Key. */
  replayed?: true | undefined;
  /** The answer is stored for repetitions with the same Idempotency-Key. */
  recorded?: true | undefined;
  /** A recorded request was sent, and its outcome is unknown. */
  outcomeUnknown?: true | undefined;
  /** The reason of each further attempt. */
  retries?: readonly RetryReason[] | undefined;
  /** A retry was left out because the retry budget of the upstream was spent. */
  retryBudgetSpent?: true | undefined;
  /** Contract violations found in the upstream's answer. */
  answerViolations?: readonly string[] | undefined;
  /** Names of the undeclared query parameters that were left out. */
  droppedQuery?: readonly string[] | undefined;
  /** Cookies that the contract declares and that did not reach the upstream, as `cookie: name`. */
  notSent?: readonly string[] | undefined;
  /** Fields of the upstream's answer that did not reach the client: names, and `set-cookie: name`. */
  withheld?: readonly string[] | undefined;
  /** The coding by which the gateway compressed the answer. */
  compressed?: string | undefined;
  cause?: unknown;
}

/** Stages may write a note but not read it: reading gives `void`. */
type Unread = ReturnType<() => void>;

/**
 * Notes about one exchange, for log, metrics and traces. Stages write them and cannot read them. State that a part decides by belongs to that
 * part. `trail.ts` has the other side, which `observe/` reads.
 */
export interface TrailNotes {
  /** The stage that runs now: a refusal names it. */
  get stage(): Unread;
  set stage(value: StageName);
  /** Notes the time at which a stage has ended. */
  ended(stage: TimedStage): void;
  /** The client has left before the end of its answer: status 499, unless the exchange has been refused. */
  clientLeft(): void;
  /** Notes what few exchanges have; undefined takes it back. */
  note<Name extends keyof RareNotes>(name: Name, value: RareNotes[Name]): void;
  get clientAddress(): Unread;
  set clientAddress(value: string | undefined);
  /** As the client sent it; noted only while traces are kept. */
  get clientTraceparent(): Unread;
  set clientTraceparent(value: string | undefined);
  get operation(): Unread;
  set operation(value: Operation | undefined);
  get caller(): Unread;
  set caller(value: Caller | undefined);
  get limits(): Unread;
  set limits(value: LimitStates | undefined);
  /** One per state of `limits`, in the same order. */
  get charged(): Unread;
  set charged(value: readonly Charged[] | undefined);
  /** Decided by: the name of the store, `known` (an earlier refusal that still holds), or the outage policy while the store is away. */
  get limitSource(): Unread;
  set limitSource(value: string | undefined);
  /** Time of the decision by the store's clock, epoch milliseconds. */
  get limitDecidedAtMs(): Unread;
  set limitDecidedAtMs(value: number | undefined);
  /** Violations found by the stage `validate`. */
  get violations(): Unread;
  set violations(value: readonly NotedViolation[] | undefined);
  /** Milliseconds in the upstream's queue; undefined: the request did not wait. */
  get queuedMs(): Unread;
  set queuedMs(value: number | undefined);
  get target(): Unread;
  set target(value: string | undefined);
  /** `performance.now()` when forwarding began. */
  get forwardedAt(): Unread;
  set forwardedAt(value: number | undefined);
  /** Number of attempts to send the request. */
  get attempts(): Unread;
  set attempts(value: number);
  get upstreamStatus(): Unread;
  set upstreamStatus(value: number | undefined);
  /** Milliseconds from the start of the attempt to the first byte of the answer. */
  get upstreamMs(): Unread;
  set upstreamMs(value: number | undefined);
  get bytesIn(): Unread;
  set bytesIn(value: number);
  get bytesOut(): Unread;
  set bytesOut(value: number);
  get status(): Unread;
  set status(value: number);
  get code(): Unread;
  set code(value: ErrorCode | string | undefined);
  /** The gateway's refusal. */
  get refusal(): Unread;
  set refusal(value: GatewayError | undefined);
}
