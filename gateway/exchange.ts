// The types of one request, stage by stage: each stage takes one type and returns the next. Types and names only.

import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from './error-catalogue.ts';
import type { GatewayError } from './errors.ts';

export type Awaitable<T> = T | Promise<T>;
export type Mode = 'live' | 'test';

/** A customer of the platform: what all its keys have in common. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  readonly state: 'active' | 'suspended';
  /** E-mail addresses for notices. */
  readonly contacts: readonly string[];
  /** The platform's own staff: only they may hold operator scopes. */
  readonly operator: boolean;
}

/** How a caller authenticates: `apiKey` by a key or by a token in its place, `basic` by user name and password. */
export type Scheme = 'apiKey' | 'basic';

/** The owner of the credentials. Every request of a caller has the same object, until something about the caller changes. */
export interface Caller {
  /** Key id, the subject of a token as its issuer names it, or `anonymous` on public operations. */
  readonly subject: string;
  readonly scheme: Scheme;
  /** Of a token: the configured name of its issuer. Subjects are unique within one issuer only. */
  readonly issuer: string | undefined;
  /** Absent on public operations only. */
  readonly organization: Organization | undefined;
  readonly mode: Mode;
  readonly scopes: ReadonlySet<string>;
  readonly revoked: boolean;
  /** Epoch milliseconds; Infinity for a key without an end. */
  readonly expiresAtMs: number;
  /** Whether a client address may use this key; absent: any may. */
  readonly allowsAddress: ((address: string) => boolean) | undefined;
}

/** One alternative of an operation's security: all its requirements must hold. */
export interface SecurityAlternative {
  readonly scheme: Scheme;
  readonly scopes: readonly string[];
}

/** One method and path of a contract, resolved and frozen at boot. */
export interface Operation {
  /** The contract's operationId, unique over all contracts. */
  readonly id: string;
  readonly method: string;
  /** The path template, `/v1/jobs/{job_id}`: metric label, never filled in. */
  readonly path: string;
  /** First path segment if it is a version (`v1`). */
  readonly version: string | undefined;
  readonly upstream: string;
  /** Prefixes of the document's own paths: for clients, and for the upstream. */
  readonly publicPrefix: string;
  readonly upstreamPrefix: string;
  /** The contract file, as messages name it. */
  readonly contract: string;
  /** A caller has to meet one of these; empty: public. */
  readonly security: readonly SecurityAlternative[];
  /** Units one request spends of every limit. */
  readonly cost: number;
  /** Name of a further limit in limits.yaml. */
  readonly extraLimit: string | undefined;
  /** Whether an Idempotency-Key is understood here; `off` for methods that need none. */
  readonly idempotency: 'optional' | 'required' | 'off';
  readonly body: 'buffer' | 'stream';
  readonly answerCheck: 'report' | 'refuse' | 'off';
  /** Lower-case names of declared header parameters: they cross to the upstream. */
  readonly requestHeaders: readonly string[];
  /** Lower-case names of declared response headers: they cross to the client. */
  readonly responseHeaders: ReadonlySet<string>;
}

/** The state of one limit, as one request found it. */
export interface QuotaState {
  readonly policy: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /** Units that could be admitted now. */
  readonly remaining: number;
  /** Milliseconds until more units become available; 0 when the quota is full. */
  readonly resetMs: number;
}

/** The decision of all limits on one request. */
export interface Quota {
  readonly states: readonly QuotaState[];
  /** The most constraining of them. */
  readonly tightest: QuotaState | undefined;
}

/** The units that a request spent of one limit. */
export interface Charged {
  readonly policy: string;
  readonly cost: number;
  /** False: a shadow limit. */
  readonly enforce: boolean;
}

/** Spans of an exchange whose trace is kept. */
export interface TraceNotes {
  /** Span of the exchange itself. */
  readonly spanId: string;
  /** One per attempt to send the request to an upstream. */
  readonly attempts: { readonly spanId: string; readonly beganAt: number; readonly target: string }[];
}

/** A place where a request violates its contract. Contains nothing that the client sent, not even an undeclared name. */
export interface NotedViolation {
  readonly in: string;
  readonly param: string;
  readonly code: string;
  readonly constraint?: Readonly<Record<string, unknown>> | undefined;
}

/** Work in progress for one organization. */
export interface OrganizationLoad {
  requests: number;
  /** Bytes of buffered request bodies. */
  bytes: number;
}

/** Why a request was sent to its upstream again; the answer rules ask for `declared`, the upstream credential for `credential`. */
export type RetryReason =
  | 'not_sent'
  | 'connection_lost'
  | 'timeout'
  | 'status_502'
  | 'status_503'
  | 'status_504'
  | 'declared'
  | 'credential';

/** Notes about one exchange, for log and metrics. Stages write it; `observe/` reads it, and so does the writer of refusals. */
export interface Trail {
  readonly id: string;
  readonly method: string;
  /** `performance.now()` at arrival. */
  readonly startedAt: number;
  stage: StageName;
  /** `performance.now()` at the end of `authenticate`, `limit` and `validate`; 0: not reached. */
  identifiedAt: number;
  countedAt: number;
  checkedAt: number;
  clientAddress: string | undefined;
  clientRequestId: string | undefined;
  traceId: string | undefined;
  trace: TraceNotes | undefined;
  /** As the client sent it; noted only while traces are kept. */
  clientTraceparent: string | undefined;
  operation: Operation | undefined;
  /** Name of the tunnel, where there is no operation. */
  tunnel: string | undefined;
  caller: Caller | undefined;
  quota: Quota | undefined;
  /** One per state of the quota, in the same order. */
  charged: readonly Charged[] | undefined;
  /** Decided by: `redis`, `known` (an earlier refusal that still holds), `process`, or the policy in force while Redis is away. */
  quotaSource: string | undefined;
  /** Time of the decision by the store's clock, epoch milliseconds. */
  quotaDecidedAtMs: number | undefined;
  /** Shadow limits that would have refused the request. */
  shadowRefusals: readonly string[] | undefined;
  /** Whether the client got the stored answer to an earlier request with the same Idempotency-Key. */
  replayed: boolean;
  /** Whether the answer is stored for repetitions with the same Idempotency-Key. */
  recorded: boolean;
  /** Whether the client may repeat the request with its Idempotency-Key. False: it would be refused, or might be executed twice. */
  repeatable: boolean;
  /** The organization's load, while the request counts in it. */
  load: OrganizationLoad | undefined;
  /** Bytes of its body that count in `load`. */
  bytesHeld: number;
  /** Milliseconds in the upstream's queue; undefined: the request did not wait. */
  queuedMs: number | undefined;
  target: string | undefined;
  /** Number of attempts to send the request. */
  attempts: number;
  /** The reason of each further attempt. */
  retries: RetryReason[] | undefined;
  /** Whether a retry was left out because the retry budget of the upstream was spent. */
  retryBudgetSpent: boolean;
  upstreamStatus: number | undefined;
  /** Milliseconds from the start of the attempt to the first byte of the answer. */
  upstreamMs: number | undefined;
  /** `performance.now()` when forwarding began. */
  forwardedAt: number | undefined;
  bytesIn: number;
  bytesOut: number;
  status: number;
  code: ErrorCode | string | undefined;
  cause: unknown;
  /** The gateway's refusal. */
  refusal: GatewayError | undefined;
  /** Violations found by the stage `validate`. */
  violations: readonly NotedViolation[] | undefined;
  /** Contract violations found in the upstream's answer. */
  answerViolations: readonly string[] | undefined;
}

/**
 * The client's request: the members that stages use. Node's IncomingMessage has them all, so that it is passed as it is; only `edge/` and
 * `tunnel/` know the class.
 */
export interface DownstreamRequest {
  readonly method?: string | undefined;
  /** The request target, as the request line has it. */
  readonly url?: string | undefined;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** Lower-case name → value, as the parser joins repeats. From `admit` on, stages use the map of `Admitted`. */
  readonly headers: IncomingHttpHeaders;
  /** Whether the whole body has arrived. */
  readonly complete: boolean;
  /** Whether a byte of the body has been read, which cannot be read again. */
  readonly readableDidRead: boolean;
  /** Whether nothing more of it can arrive. */
  readonly destroyed: boolean;
  /** The client's connection, which other requests may share. */
  readonly socket: Socket;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeAllListeners(event: 'data'): unknown;
  /** Stops the events `data` until a reader asks for more. */
  pause(): unknown;
  /** The chunks of the body. `destroyOnReturn: false`: a reader that stops early leaves the connection open. */
  iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterable<unknown>;
}

/** The answer to the client: the members that stages use. Node's ServerResponse has them all; see DownstreamRequest. */
export interface DownstreamResponse {
  readonly statusCode: number;
  readonly headersSent: boolean;
  /** Whether `end` has been called. */
  readonly writableEnded: boolean;
  /** Whether the client reads more slowly than the answer is written. */
  readonly writableNeedDrain: boolean;
  /** Whether nothing can be sent any more: the client has left, or the answer was given up. */
  readonly destroyed: boolean;
  /** Whether the connection stays open after this answer; settled once the head is written. */
  shouldKeepAlive: boolean;
  /** An interim answer: the client may send its body (RFC 9110 section 15.2.1). */
  writeContinue(): void;
  /** @param headers flat names and values */
  writeHead(status: number, headers?: string[]): unknown;
  /** False: the client is behind, `drain` follows. */
  write(chunk: Buffer, onWritten?: () => void): boolean;
  end(chunk?: Buffer): unknown;
  destroy(): unknown;
  /** `close`: the answer is complete, or the client has left. */
  once(event: 'close' | 'drain', listener: () => void): unknown;
  off(event: 'close' | 'drain', listener: () => void): unknown;
  /** For a listener that must run before the one that ends the exchange and has it logged. */
  prependListener(event: 'close', listener: () => void): unknown;
}

/** A request as it arrived; nothing about it has been checked. */
export interface Arrived {
  readonly id: string;
  readonly request: DownstreamRequest;
  readonly response: DownstreamResponse;
  readonly trail: Trail;
  /** Headers of whatever answer this request gets, flat names and values: stages append, never remove. Starts with the constant headers. */
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
  /** The client's address, computed through the trusted proxies. */
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
  readonly quota: Quota;
}

export interface Checked extends Counted {
  /** The query to send on: what the client sent plus the contract's defaults; with question mark, or empty. */
  readonly search: string;
  /** The body's original bytes; absent: no body, or a streamed one. */
  readonly rawBody: Buffer | undefined;
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
  /** Flat names and values, without those of the connection and of this exchange. */
  readonly headers: readonly string[];
  /** Undefined: too long to be stored. */
  readonly body: Buffer | undefined;
}

export interface Fresh extends Checked {
  /** Absent: the request has no Idempotency-Key that this gateway stores answers for. */
  readonly recording: Recording | undefined;
}

/** The stages, in order. Each returns the exchange with its findings added, or throws a GatewayError. */
export interface Stages {
  admit(arrived: Arrived): Admitted;
  throttle(admitted: Admitted): void;
  match(admitted: Admitted): Matched;
  authenticate(matched: Matched): Awaitable<Identified>;
  authorize(identified: Identified): Permitted;
  limit(permitted: Permitted): Awaitable<Counted>;
  validate(counted: Counted): Awaitable<Checked>;
  /** Undefined: the stage has answered with the stored answer. */
  idempotency(checked: Checked): Awaitable<Fresh | undefined>;
  forward(fresh: Fresh): Promise<void>;
}

/** The names of the stages, in order. */
export const STAGES = [
  'admit',
  'throttle',
  'match',
  'authenticate',
  'authorize',
  'limit',
  'validate',
  'idempotency',
  'forward',
] as const satisfies readonly (keyof Stages)[];

export type StageName = (typeof STAGES)[number];

/** Stages that were published under another name, which log files and dashboards contain. */
const renamed = { idempotency: 'replay' } as const satisfies Partial<Record<StageName, string>>;

export type PublishedStageName = Exclude<StageName, keyof typeof renamed> | (typeof renamed)[keyof typeof renamed];

/** The name of each stage in log lines, metrics, traces, `explain` and recorded decisions. */
export const PUBLISHED_NAMES = Object.freeze(
  Object.assign(Object.fromEntries(STAGES.map((stage) => [stage, stage])), renamed),
) as Readonly<Record<StageName, PublishedStageName>>;

/** Stages that can wait: log lines contain their times. */
export const TIMED_STAGES = [
  'authenticate',
  'limit',
  'validate',
  'idempotency',
  'forward',
] as const satisfies StageName[];
