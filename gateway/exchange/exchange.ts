// The types of one request, stage by stage. `admit` makes the object. Each later stage adds its findings to the same object (`extend`), and
// returns the object under the next type, or returns nothing.

import type { Caller } from './caller.ts';
import type { DownstreamRequest, DownstreamResponse } from './downstream.ts';
import type { LimitStates } from './findings.ts';
import type { TrailNotes } from './notes.ts';
import type { Operation } from './operation.ts';

/** Work in progress for one organization. */
export interface OrganizationLoad {
  requests: number;
  /** Bytes of buffered request bodies. */
  bytes: number;
}

/** The share of one exchange in the load of its organization. Only `overload/` writes and reads it. */
export interface Reservation {
  /** The load of the organization that counts this request; undefined while none does. */
  load: OrganizationLoad | undefined;
  /** Bytes of the request's body that are counted in `load`. */
  bytesHeld: number;
}

/** The state of one exchange that its steps change. Every step has the same object. */
export interface ExchangeState extends Reservation {
  /** Whether an Idempotency-Key does not prevent a second execution. A refusal is then `retryable` only for another reason. */
  isUnprotected: boolean;
  /** Whether a step limits the time of the request's body itself, so that the body timeout of the listener does not apply. */
  hasOwnBodyTimeout: boolean;
}

/** A request as it arrived; nothing about it has been checked. */
export interface Arrived {
  readonly id: string;
  readonly request: DownstreamRequest;
  readonly response: DownstreamResponse;
  /**
   * Notes for log, metrics and traces. A row of `fields` declares each note, in the capability of the folder whose code knows the value. If
   * most log lines have the note, trail.ts has its first value, and observe/log/line.ts its place.
   */
  readonly trail: TrailNotes;
  readonly state: ExchangeState;
  /** The client's address, computed through the trusted proxies by `admit`; undefined before that. */
  clientAddress: string | undefined;
  /** Headers of every answer to this request. They begin with the constant headers; stages append headers and remove none. */
  readonly commonHeaders: string[];
}

export interface Admitted extends Arrived {
  readonly method: string;
  /** Raw path of the request target, in a form that every server reads alike. */
  readonly path: string;
  /** Path segments, percent-decoded once. */
  readonly segments: readonly string[];
  /** Raw query, without the question mark. */
  readonly query: string;
  /** Lower-case name → value; list-valued repeats joined by comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly clientAddress: string;
  /** `http` or `https`, as the client sees it. */
  readonly scheme: string;
  readonly hasBody: boolean;
}

export interface Matched extends Admitted {
  readonly operation: Operation;
  /** Decoded values of the template's parameters, in template order. */
  readonly pathValues: readonly string[];
}

export interface Identified extends Matched {
  readonly caller: Caller;
}

export interface Permitted extends Identified {
  readonly permitted: true;
}

export interface Counted extends Permitted {
  readonly limits: LimitStates;
}

/** Checks a body while it is sent on. Its methods throw the refusal. */
export interface StreamedBodyCheck {
  /**
   * Checks a chunk. Call it before you send the chunk. It throws if the body is invalid, so that the last chunk of an invalid body is never
   * sent.
   */
  push(chunk: Buffer): void;
  /** Call it before you send the last byte. It may be called more than once. */
  end(): void;
}

/** The members that `validate` adds. */
export interface Validated {
  /**
   * The query to send on, with its question mark: the query of the client and the defaults of the contract. The empty text if there are no
   * parameters.
   */
  readonly search: string;
  /** The original bytes of the body; undefined if there is no body, or a streamed one. */
  readonly rawBody: Buffer | undefined;
  /** Checks a streamed body on its way; absent if the contract says nothing about its content. */
  readonly bodyCheck?: StreamedBodyCheck | undefined;
}

export interface Checked extends Counted, Validated {}

/** Stores the answer of a request that has an Idempotency-Key. Its promises never reject. */
export interface Recording {
  /**
   * Call it before you send the first byte. Throws gateway_overloaded if the lease has ended, because another instance may already consider
   * this request lost.
   */
  sent(): void;
  /** Longer bodies are not stored. */
  readonly bodyBytesMax: number;
  /** Stores the answer that the client is about to get. Resolves when it is stored, or when storing it has failed. */
  keep(answer: RecordedAnswer): Promise<void>;
  /**
   * Ends the recording with the error that forwarding threw, if any. Has no effect after `keep`. What is stored depends on the upstream:
   *
   * - It got nothing: nothing is stored, and the key is free again.
   * - It refused with 401, 403, 408, 409, 429, or a status from 500 on: the same, because a retry may get another answer.
   * - It refused with another status: the refusal is stored.
   * - Otherwise: the outcome is stored as unknown.
   */
  endWithoutAnswer(error: unknown): Promise<void>;
}

export interface RecordedAnswer {
  readonly status: number;
  /** The headers, without the fields of the connection and of this exchange. */
  readonly headers: readonly string[];
  /** The body; undefined if it is too long to be stored. */
  readonly body: Buffer | undefined;
}

/** The exchange after `replay`, which has found no stored answer, so that the request may be forwarded. */
export interface Forwardable extends Checked {
  /** The recording of the answer; undefined if the request has no Idempotency-Key under which this gateway stores an answer. */
  readonly recording: Recording | undefined;
}

/**
 * Returns the exchange itself, under a type to which a stage can add its findings. A copy of the exchange would take 0.1 µs and 200 bytes,
 * which is more than most stages take.
 */
export function extend<Exchange, Findings>(
  exchange: Exchange,
): Exchange & { -readonly [Name in keyof Findings]: Findings[Name] } {
  return exchange as Exchange & Findings;
}
