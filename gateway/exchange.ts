// What is known about one request, stage by stage: each stage takes the type above it and returns the next. Types and names only.

import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode, GatewayError } from './errors.ts';

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

/** How a caller is known: by a key, or a token in the place of one, or by user name and password. */
export type Scheme = 'apiKey' | 'basic';

/** Whoever the credentials stand for. The same object serves every request of that caller until something about it changes. */
export interface Caller {
  /** Key id, the subject of a token as its issuer names it, or `anonymous` on public operations. */
  readonly subject: string;
  readonly scheme: Scheme;
  /** Of a token: the name under which its issuer is configured. Subjects are unique within one issuer only. */
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

/** One way to be let in: every requirement of it must hold. */
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
  /** What stands in front of the document's own paths, toward clients and toward the upstream. */
  readonly publicPrefix: string;
  readonly upstreamPrefix: string;
  /** The file it comes from, as messages name it. */
  readonly contract: string;
  /** Any one of these lets a caller in; empty: public. */
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

/** What one limit said about one request. */
export interface QuotaState {
  readonly policy: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /** Units that could be admitted now. */
  readonly remaining: number;
  /** Milliseconds until more units become available; 0 when the quota is full. */
  readonly resetMs: number;
}

/** What a request learned from its counters. */
export interface Quota {
  readonly states: readonly QuotaState[];
  /** The most constraining of them. */
  readonly tightest: QuotaState | undefined;
}

/** What a request was charged to one of its counters. */
export interface Charged {
  readonly policy: string;
  readonly cost: number;
  /** False: a shadow limit. */
  readonly enforce: boolean;
}

/** What is noted of an exchange whose trace is kept. */
export interface TraceNotes {
  /** Of the exchange itself. */
  readonly spanId: string;
  /** One for each time that something was sent to an upstream. */
  readonly attempts: { readonly spanId: string; readonly beganAt: number; readonly target: string }[];
}

/** Where a request is not as its contract says. Never holds anything that a client sent, not even a name that the contract does not know. */
export interface NotedViolation {
  readonly in: string;
  readonly param: string;
  readonly code: string;
  readonly constraint?: Readonly<Record<string, unknown>> | undefined;
}

/** What is under way for one organization. */
export interface OrganizationLoad {
  requests: number;
  /** Of bodies that are held. */
  bytes: number;
}

/** Why a request was sent to its upstream once more; the last two are what its rules and its credential asked for. */
export type RetryReason =
  | 'not_sent'
  | 'connection_lost'
  | 'timeout'
  | 'status_502'
  | 'status_503'
  | 'status_504'
  | 'declared'
  | 'credential';

/** Notes about one exchange for log and metrics. Stages write it; `observe/` reads it, and the writer of refusals where it was made. */
export interface Trail {
  readonly id: string;
  readonly method: string;
  /** `performance.now()` at arrival. */
  readonly startedAt: number;
  stage: StageName;
  /** `performance.now()` when it was known who asks, when limits had been decided, and when the request had been checked; 0: not reached. */
  identifiedAt: number;
  countedAt: number;
  checkedAt: number;
  clientAddress: string | undefined;
  clientRequestId: string | undefined;
  traceId: string | undefined;
  trace: TraceNotes | undefined;
  /** As the client sent it; only noted while traces are kept. */
  clientTraceparent: string | undefined;
  operation: Operation | undefined;
  /** Name of the tunnel, where there is no operation. */
  tunnel: string | undefined;
  caller: Caller | undefined;
  quota: Quota | undefined;
  /** One per state of the quota, in the same order. */
  charged: readonly Charged[] | undefined;
  /** Where the decision came from: `redis`, `known` (a refusal that still holds), `process`, or the policy in force while Redis is away. */
  quotaSource: string | undefined;
  /** The store's clock when it decided, epoch milliseconds. */
  quotaDecidedAtMs: number | undefined;
  /** Policies that would have refused but are not enforced yet. */
  shadowRefusals: readonly string[] | undefined;
  /** Whether the client got what was kept of an earlier request with the same Idempotency-Key. */
  replayed: boolean;
  /** Whether its answer is kept for a repetition with the same Idempotency-Key. */
  recorded: boolean;
  /** Whether it may be sent again with the same Idempotency-Key. False: that would be refused, or might execute it a second time. */
  repeatable: boolean;
  /** Where the request is counted as under way. */
  load: OrganizationLoad | undefined;
  /** Bytes of its body that are counted there. */
  bytesHeld: number;
  /** Milliseconds in line for a place at the upstream; undefined: there was one at once. */
  queuedMs: number | undefined;
  target: string | undefined;
  /** How often the request was sent, or was about to be. */
  attempts: number;
  /** Why it was sent again, each time. */
  retries: RetryReason[] | undefined;
  /** Whether it would have been sent again if the retry budget of the upstream had not been spent. */
  retryBudgetSpent: boolean;
  upstreamStatus: number | undefined;
  /** Milliseconds from sending to the first byte of the answer's head. */
  upstreamMs: number | undefined;
  /** `performance.now()` when forwarding began. */
  forwardedAt: number | undefined;
  bytesIn: number;
  bytesOut: number;
  status: number;
  code: ErrorCode | string | undefined;
  cause: unknown;
  /** What the gateway refused with. */
  refusal: GatewayError | undefined;
  /** What the validate stage found. */
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

/** A request as it came in; nothing about it has been checked. */
export interface Arrived {
  readonly id: string;
  readonly request: DownstreamRequest;
  readonly response: DownstreamResponse;
  readonly trail: Trail;
  /** Header names and values, flat, that every answer to this request carries from here on: stages append, never remove. */
  readonly carried: string[];
}

export interface Admitted extends Arrived {
  readonly method: string;
  /** Raw path of the request target, in a form that means the same to everybody. */
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

/** What comes of a request that may be sent again, on its way into the store. No promise of it ever rejects. */
export interface Recording {
  /** The next byte is of this request. Throws gateway_overloaded if it took so long to get here that others take the request for lost. */
  sent(): void;
  /** Bodies longer than this are not kept. */
  readonly bodyBytesMax: number;
  /** The upstream's answer as the client is about to get it: resolves when it is kept or cannot be. */
  keep(answer: RecordedAnswer): Promise<void>;
  /**
   * What forwarding threw: kept if it is the upstream's word on this request. Forgotten if nothing was executed, so that a repetition runs
   * anew. Else the outcome is unknown.
   */
  fail(error: unknown): Promise<void>;
}

export interface RecordedAnswer {
  readonly status: number;
  /** Flat names and values, without those of the connection and of this one exchange. */
  readonly headers: readonly string[];
  /** Undefined: too long to be kept. */
  readonly body: Buffer | undefined;
}

export interface Fresh extends Checked {
  /** Absent: nobody asked to have it remembered. */
  readonly recording: Recording | undefined;
}

/** The stages, in order. Each returns what it learned, or throws a GatewayError. */
export interface Stages {
  admit(arrived: Arrived): Admitted;
  throttle(admitted: Admitted): void;
  match(admitted: Admitted): Matched;
  authenticate(matched: Matched): Awaitable<Identified>;
  authorize(identified: Identified): Permitted;
  limit(permitted: Permitted): Awaitable<Counted>;
  validate(counted: Counted): Awaitable<Checked>;
  /** Undefined: answered already, with what was kept of the first time. */
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

/** Stages that can wait for something, so that their times are worth a member of the log line. */
export const TIMED_STAGES = ['authenticate', 'limit', 'validate', 'idempotency', 'forward'] as const satisfies StageName[];
