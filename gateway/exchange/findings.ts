// Types of what stages find out about a request and note for log, metrics and traces.

/** The state of one limit, as one request found it. */
export interface LimitState {
  readonly policy: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /** Units that could be admitted now. */
  readonly remaining: number;
  /** Milliseconds until more units become available; 0 when the limit is unused. */
  readonly resetMs: number;
}

/** The decision of all limits on one request. */
export interface LimitStates {
  readonly states: readonly LimitState[];
  /** The state of the limit that is nearest to refusing; undefined if no limit may be shown. */
  readonly tightest: LimitState | undefined;
}

/** The units that a request spent of one limit. */
export interface ChargedUnits {
  readonly policy: string;
  readonly cost: number;
  /** Whether the limit refuses; a shadow limit does not. */
  readonly enforce: boolean;
}

/** A place where a request violates its contract. Contains nothing that the client sent, not even an undeclared name. */
export interface NotedViolation {
  readonly in: string;
  readonly param: string;
  readonly code: string;
  readonly constraint?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The reason why a request was sent once more. The last two are the reasons of a repetition within one attempt. `declared`: an answer rule
 * of the upstream requires it. `credential`: the upstream refused the gateway's credential, which has changed since.
 */
export type RetryReason =
  | 'not_sent'
  | 'connection_lost'
  | 'timeout'
  | 'status_502'
  | 'status_503'
  | 'status_504'
  | 'declared'
  | 'credential';

/** The kinds of answers that stay open: event streams, lines of JSON and upgraded connections. */
export type StreamKind = 'events' | 'lines' | 'websocket';

/**
 * Why the gateway ended a stream. `drain`: its process ends. `reload`: its operation is gone. `credential`: its caller has lost access.
 * `contract`: an item violates the contract. `too_long`: it took longer than `maxStreamMs`.
 */
export type StreamEnd = 'drain' | 'reload' | 'credential' | 'contract' | 'too_long';
