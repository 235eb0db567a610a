// The types of one request, stage by stage: a stage takes one type and returns the next, or nothing. Types and names only.

import type { DownstreamRequest, DownstreamResponse } from './downstream.ts';
import type { ErrorCode } from './error-catalogue.ts';
import type { GatewayError } from './errors.ts';
import type { Awaitable } from './shared/awaitable.ts';

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

/** One method and path of a contract, resolved once per configuration and frozen. */
export interface Operation {
  /** The contract's operationId, or `qualifiedId` where its entry says so. Unique over all contracts. */
  readonly id: string;
  /** `entry.operationId` */
  readonly qualifiedId: string;
  readonly method: string;
  /** The path template, `/v1/jobs/{job_id}`: metric label, never filled in. */
  readonly path: string;
  /** First path segment if it is a version (`v1`). */
  readonly version: string | undefined;
  /** The name of the path parameter that takes slashes, if one does. */
  readonly restOfPath: string | undefined;
  /** Styles of the path parameters whose text has separators, by name: lists and objects, and all of style label and matrix. */
  readonly pathStyles: ReadonlyMap<string, string>;
  readonly upstream: string;
  /** The entry of upstreams.yaml that lists the contract. */
  readonly entry: string;
  /** Replaces the timeoutMs of the upstream. */
  readonly timeoutMs: number | undefined;
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
  /** What becomes of query parameters that the contract does not declare. */
  readonly undeclaredQuery: 'refuse' | 'pass' | 'drop';
  /** Whether every successful answer is a stream. */
  readonly streams: boolean;
  /** Whether the request may be upgraded to a WebSocket. */
  readonly webSocket: boolean;
  readonly answerCheck: 'report' | 'refuse' | 'off';
  /** The reaction to an answer of a media type that the contract does not declare. */
  readonly undeclaredMediaTypes: 'report' | 'refuse' | 'off';
  /** Whether clients may ask for parts of an answer. */
  readonly ranges: boolean;
  /** Whether the upstream gets the token of a caller that has one. API keys, user names and passwords never cross. */
  readonly forwardsToken: boolean;
  /** Lower-case names of further headers that cross to the upstream: declared parameters, and those that the entry names. */
  readonly requestHeaders: readonly string[];
  /** Lower-case names of further headers that cross to the client: declared ones, and those that the entry names. */
  readonly responseHeaders: ReadonlySet<string>;
  /** Fields among `location`, `link` and `content-location` that may name other hosts. */
  readonly externalReferences: ReadonlySet<string>;
  /** Undefined: no cookie crosses, and the contract declares none. */
  readonly cookies: CookieRules | undefined;
}

/** The cookies of one operation. */
export interface CookieRules {
  /** Names that cross in both directions. */
  readonly names: ReadonlySet<string>;
  /** Declared parameters that are not among them. */
  readonly withheld: readonly string[];
}

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
  /** The most constraining of them. */
  readonly tightest: LimitState | undefined;
}

/** The units that a request spent of one limit. */
export interface Charged {
  readonly policy: string;
  readonly cost: number;
  /** False: a shadow limit. */
  readonly enforce: boolean;
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

/** What one exchange holds of its organization's share. Written and read by `overload/` alone. */
export interface Reservation {
  /** The organization's load, while the request counts in it. */
  load: OrganizationLoad | undefined;
  /** Bytes of its body that count in `load`. */
  bytesHeld: number;
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

/** The kinds of answers that stay open: an event stream, lines of JSON, an upgraded connection. */
export type StreamKind = 'events' | 'lines' | 'websocket';

/**
 * Why the gateway ended a stream: its process ends, its operation is gone, its caller may not go on, an item violates the contract, or it took
 * longer than `maxStreamMs`.
 */
export type StreamEnd = 'drain' | 'reload' | 'credential' | 'contract' | 'too_long';

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

/** A request as it arrived; nothing about it has been checked. */
export interface Arrived {
  readonly id: string;
  readonly request: DownstreamRequest;
  readonly response: DownstreamResponse;
  readonly trail: TrailNotes;
  readonly reservation: Reservation;
  /** The client's address, computed through the trusted proxies by `admit`; undefined before that. */
  clientAddress: string | undefined;
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
  /** Flat names and values, without those of the connection and of this exchange. */
  readonly headers: readonly string[];
  /** Undefined: too long to be stored. */
  readonly body: Buffer | undefined;
}

export interface Fresh extends Checked {
  /** Absent: the request has no Idempotency-Key that this gateway stores answers for. */
  readonly recording: Recording | undefined;
}

/**
 * The stages, in order. Each throws a GatewayError, or returns the exchange with its findings added; `throttle` adds none, `replay` may
 * end the exchange, and `forward` ends it.
 */
export interface Stages {
  admit(arrived: Arrived): Admitted;
  throttle(admitted: Admitted): void;
  match(admitted: Admitted): Matched;
  authenticate(matched: Matched): Awaitable<Identified>;
  authorize(identified: Identified): Permitted;
  limit(permitted: Permitted): Awaitable<Counted>;
  validate(counted: Counted): Awaitable<Checked>;
  /** Undefined: the stage has answered with the stored answer. */
  replay(checked: Checked): Awaitable<Fresh | undefined>;
  forward(fresh: Fresh): Promise<void>;
}

interface StageKind {
  /** How `explain` simulates it: by the configuration alone, or by a stand-in of its own. */
  readonly trial?: 'configuration' | 'stand-in';
  /** Why `explain` leaves it out. */
  readonly untried?: string;
  /** It can wait before the request is forwarded: the name of its end in a trace. */
  readonly ended?: string;
}

/** The one list of the stages, in order. */
const STAGE_LIST = {
  admit: { trial: 'configuration' },
  throttle: { untried: 'only a running gateway knows which addresses are blocked' },
  match: { trial: 'configuration' },
  authenticate: { trial: 'stand-in', ended: 'identified' },
  authorize: { trial: 'configuration' },
  limit: { trial: 'stand-in', ended: 'counted' },
  validate: { trial: 'configuration', ended: 'checked' },
  replay: { untried: 'looking up an Idempotency-Key reserves it' },
  forward: { trial: 'stand-in' },
} as const satisfies { readonly [Name in keyof Stages]: StageKind };

export type StageName = keyof typeof STAGE_LIST;
type StagesWith<Kind> = {
  [Name in StageName]: (typeof STAGE_LIST)[Name] extends Kind ? Name : never;
}[StageName];

/** The names of the stages, in order: in the code, log lines, metrics, traces, `explain` and recorded decisions. */
export const STAGES = Object.keys(STAGE_LIST) as readonly StageName[];

export type StatelessStage = StagesWith<{ trial: 'configuration' }>;
export type UntriedStage = StagesWith<{ untried: string }>;

/** Stages that need a running gateway, with the reason. */
export const UNTRIED_STAGES = valuesOf('untried') as { readonly [Name in UntriedStage]: string };

export type TimedStage = StagesWith<{ ended: string }>;

/** Stages that can wait before the request is forwarded: the trail has the time of their end. With the name of that event in a trace. */
export const TIMED_STAGES = valuesOf('ended') as {
  readonly [Name in TimedStage]: (typeof STAGE_LIST)[Name]['ended'];
};

function valuesOf(member: keyof StageKind): Partial<Record<StageName, string>> {
  const kinds = Object.entries<StageKind>(STAGE_LIST);
  return Object.fromEntries(
    kinds.flatMap(([name, { [member]: value }]) => (value === undefined ? [] : [[name, value]])),
  );
}
