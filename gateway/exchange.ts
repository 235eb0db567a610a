// The types of one request, stage by stage: a stage takes one type and returns the next, or nothing.

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

/** The part of its organization's share that one exchange uses. Only `overload/` writes and reads it. */
export interface Reservation {
  /** The organization's load, while the request counts in it. */
  load: OrganizationLoad | undefined;
  /** Bytes of its body that count in `load`. */
  bytesHeld: number;
}

/** A request as it arrived; nothing about it has been checked. */
export interface Arrived {
  readonly id: string;
  readonly request: DownstreamRequest;
  readonly response: DownstreamResponse;
  readonly trail: TrailNotes;
  readonly reservation: Reservation;
  /** The client's address, computed through the trusted proxies by `admit`; undefined before that. */
  clientAddress: string | undefined;
  /** Headers of every answer to this request, flat names and values. Starts with the constant headers; stages append and never remove. */
  readonly carried: string[];
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
  /** Called with each chunk before it is sent: the chunk that completes the body is refused together with it. */
  push(chunk: Buffer): void;
  /** Called before the last byte is sent. May be called again. */
  end(): void;
}

export interface Checked extends Counted {
  /** The query to send on: what the client sent plus the contract's defaults; with question mark, or empty. */
  readonly search: string;
  /** The body's original bytes; absent: no body, or a streamed one. */
  readonly rawBody: Buffer | undefined;
  /** Checks a streamed body on its way; absent: the contract says nothing about its content. */
  readonly bodyCheck?: StreamedBodyCheck | undefined;
}

/** Stores the answer of a request that has an Idempotency-Key. Its promises never reject. */
export interface Recording {
  /** Called before the first byte is sent. Throws gateway_overloaded if so much time passed that the request counts as lost elsewhere. */
  sent(): void;
  /** Longer bodies are not stored. */
  readonly bodyBytesMax: number;
  /** Takes the answer that the client is about to get. Resolves when it is stored, or when storing it has failed. */
  keep(answer: RecordedAnswer): Promise<void>;
  /**
   * Takes the error that forwarding threw. The upstream's own refusal of this request is stored. If nothing was executed, the key is free
   * again, so that a repetition runs. Otherwise the outcome is stored as unknown.
   */
  fail(error: unknown): Promise<void>;
}

export interface RecordedAnswer {
  readonly status: number;
  /** Flat names and values, without the headers of the connection and of this exchange. */
  readonly headers: readonly string[];
  /** Undefined: too long to be stored. */
  readonly body: Buffer | undefined;
}

export interface Fresh extends Checked {
  /** Absent: the request has no Idempotency-Key that this gateway stores answers for. */
  readonly recording: Recording | undefined;
}
