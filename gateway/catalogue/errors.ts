// The catalogue of error codes as data, and the one error class that stages throw. The texts of a code are in the folder of its capability;
// after a change, `npm run docs` writes docs/errors.md.

import { allRows } from './capabilities.ts';
import { type CatalogueEntry, type ErrorType, FAULT_OF_UPSTREAM } from './catalogue-entry.ts';

/** The codes that every step may use, each with its row. */
const GENERAL_CODES = {
  internal_error: {
    ...FAULT_OF_UPSTREAM,
    blame: 'gateway',
    status: 500,
    message: 'Something went wrong inside the gateway.',
    meaning: 'A mistake in the gateway. Quote the `request_id` when you ask for help.',
    remedy: 'Retry if `retryable` is true. If the error persists, tell support the `request_id`.',
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

/** One entry per code. Refusals send the message; the pages under /docs/errors and docs/errors.md show meaning and remedy. */
export const REFUSALS = { ...allRows('codes'), ...GENERAL_CODES } satisfies Readonly<Record<string, CatalogueEntry>>;

export type ErrorCode = keyof typeof REFUSALS;

/** Status, type, code and message of an error of an upstream, in the gateway's form. */
export interface UpstreamWords {
  readonly status: number;
  readonly type: ErrorType;
  readonly code: string;
  readonly message: string;
}

export interface GatewayErrorDetails {
  /** The reason, which is only for the log and never reaches the caller. */
  readonly cause?: unknown;
  /** The path of a request for which there is no operation, without values. Only the log contains it. */
  readonly path?: string;
  /** Extra response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Extra members of the error object. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Name of a sentence in the row's `hints`. */
  readonly hint?: string;
  /** Whole seconds until a retry makes sense. They are sent as Retry-After and as `retry_after`. */
  readonly retryAfterSeconds?: number;
  /** Whether the operation accepts user name and password too, or nothing else. It decides the challenges of a 401. */
  readonly basic?: 'also' | 'only';
  /** Additional parameters of a Bearer challenge, as text. */
  readonly challenge?: string;
  /** HTML that is sent in place of the error object, for a path that people open in a browser. */
  readonly page?: string;
  /**
   * The status, type, code and message of an error of the upstream, which replace those of the catalogue. The replay store uses this name
   * for them (replay/outcome.ts).
   */
  readonly words?: UpstreamWords;
  /** Whether the upstream refused the request; absent if the gateway did, or if the upstream failed. */
  readonly refusedByUpstream?: true;
  /** Status of the upstream's answer; present if the outcome of the request is known. */
  readonly upstreamStatus?: number;
}

/**
 * A refusal. edge/refusal/error-answer.ts makes the error answer from it; `cause`, `path`, `refusedByUpstream` and
 * `upstreamStatus` are not part of the answer.
 *
 * Its prototype makes it an Error, but the constructor of Error never runs. That constructor takes a seventh of the time of a refusal, even
 * if it collects no stack (2 µs of CPU of 16, measured under load). The code and the stage show the origin of a refusal, and `cause`
 * contains the stack of a bug.
 */
export class GatewayError implements Error {
  readonly code: ErrorCode;
  readonly details: GatewayErrorDetails;

  constructor(code: ErrorCode, details: GatewayErrorDetails = {}) {
    this.code = code;
    this.details = details;
  }

  get name(): string {
    return 'GatewayError';
  }

  get message(): string {
    return this.code;
  }

  get cause(): unknown {
    return this.details.cause;
  }

  get entry(): CatalogueEntry {
    return REFUSALS[this.code];
  }
}

Object.setPrototypeOf(GatewayError.prototype, Error.prototype);

/** Returns a GatewayError for anything that was thrown. An unexpected error becomes `internal_error`, with the original as its cause. */
export function toGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError('internal_error', { cause: thrown });
}
