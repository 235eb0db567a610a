// The members of the log line of an exchange, in their order: the one table that the line, the page `docs/explain.md` and the facts of
// `gateway explain` are made from. A member that is not written, a fact that is not told and a note that is in no member do not compile.

import type { RareNotes, TrailNotes } from '../notes.ts';
import type { StageName } from '../stages.ts';
import type { Trail } from '../trail.ts';

interface Field {
  /** The stage that it is about; `exchange`: all of them. */
  readonly stage: StageName | 'exchange';
  readonly type: string;
  /** The notes that it is made from. */
  readonly from: readonly (keyof Trail | keyof RareNotes)[];
  /** Markdown. */
  readonly meaning: string;
}

/** A member of most lines. `line.ts` writes the members of one part together. */
interface UsualField extends Field {
  readonly part: string;
}

/** A member that most lines lack: the first of its notes, or what `of` makes of them. Undefined: the line lacks it. */
interface RareField extends Field {
  readonly part: 'rare';
  of?(rare: RareNotes, trail: Trail): unknown;
}

const REFUSED = 'of a refusal';

export const LOG_FIELDS = {
  level: {
    part: 'start',
    stage: 'exchange',
    type: 'integer',
    from: ['code', 'answerViolations'],
    meaning: '30: information, 40: a fault of an upstream, 50: a fault of the gateway',
  },
  time: { part: 'start', stage: 'exchange', type: 'epoch ms', from: [], meaning: 'when the exchange ended' },
  request_id: {
    part: 'start',
    stage: 'exchange',
    type: 'text',
    from: ['id'],
    meaning: 'the `X-Request-Id` of the answer',
  },
  method: { part: 'matched', stage: 'match', type: 'text', from: ['method'], meaning: 'the method of the request' },
  stage: {
    part: 'matched',
    stage: 'exchange',
    type: 'text',
    from: ['stage'],
    meaning: 'the final stage: the one that refused or answered',
  },
  status: {
    part: 'matched',
    stage: 'exchange',
    type: 'integer',
    from: ['status'],
    meaning: 'the status of the answer; 499: the client had left',
  },
  operation: { part: 'operation', stage: 'match', type: 'text', from: ['operation'], meaning: 'the `operationId`' },
  route: { part: 'operation', stage: 'match', type: 'text', from: ['operation'], meaning: 'the path of the contract' },
  upstream: {
    part: 'operation',
    stage: 'match',
    type: 'text',
    from: ['operation'],
    meaning: 'the name of the upstream',
  },
  organization: {
    part: 'caller',
    stage: 'authenticate',
    type: 'text',
    from: ['caller'],
    meaning: 'the organization of the caller',
  },
  tier: { part: 'caller', stage: 'authenticate', type: 'text', from: ['caller'], meaning: 'its tier' },
  key_id: {
    part: 'caller',
    stage: 'authenticate',
    type: 'text',
    from: ['caller'],
    meaning: 'the id of the API key; `anonymous`: the operation is public',
  },
  token_issuer: {
    part: 'caller',
    stage: 'authenticate',
    type: 'text',
    from: ['caller'],
    meaning: 'the issuer of the token, where a caller has one instead of a key',
  },
  subject: {
    part: 'caller',
    stage: 'authenticate',
    type: 'text',
    from: ['caller'],
    meaning: 'the subject of the token, or the user name',
  },
  mode: {
    part: 'caller',
    stage: 'authenticate',
    type: '`live`, `test`',
    from: ['caller'],
    meaning: 'the mode of the caller',
  },
  client: { part: 'client', stage: 'admit', type: 'text', from: ['clientAddress'], meaning: "the client's address" },
  duration_ms: {
    part: 'size',
    stage: 'exchange',
    type: 'ms',
    from: ['durationMs'],
    meaning: 'from the arrival of the request to the end of the answer',
  },
  bytes_in: { part: 'size', stage: 'validate', type: 'bytes', from: ['bytesIn'], meaning: 'the body of the request' },
  bytes_out: { part: 'size', stage: 'forward', type: 'bytes', from: ['bytesOut'], meaning: 'the body of the answer' },
  limit: { part: 'limit', stage: 'limit', type: 'text', from: ['limits'], meaning: 'the tightest enforced limit' },
  limit_remaining: { part: 'limit', stage: 'limit', type: 'integer', from: ['limits'], meaning: 'what is left of it' },
  limit_quota: { part: 'limit', stage: 'limit', type: 'integer', from: ['limits'], meaning: 'its size' },
  limits: {
    part: 'limits',
    stage: 'limit',
    type: 'list of objects',
    from: ['limits', 'charged'],
    meaning:
      'every limit that counted (`policy`: its name, `quota`, `remaining`, `wait_ms`, `cost`, `shadow`), if the three above are not all',
  },
  limit_source: {
    part: 'decision',
    stage: 'limit',
    type: 'text',
    from: ['limitSource'],
    meaning:
      'where the decision came from: the store (such as `redis` or `process`), `known` (a refusal that still held), or the outage policy while Redis was away',
  },
  decided_at: {
    part: 'decision',
    stage: 'limit',
    type: 'epoch ms',
    from: ['limitDecidedAtMs'],
    meaning: 'the time of the decision by the clock of that store',
  },
  target: {
    part: 'target',
    stage: 'forward',
    type: 'text',
    from: ['target'],
    meaning: 'the target that got the request',
  },
  trace_id: { part: 'trace', stage: 'forward', type: 'text', from: ['traceId'], meaning: 'the id of the trace' },
  upstream_status: {
    part: 'answer',
    stage: 'forward',
    type: 'integer',
    from: ['upstreamStatus'],
    meaning: "the status of the target's answer",
  },
  upstream_ms: {
    part: 'answer',
    stage: 'forward',
    type: 'ms',
    from: ['upstreamMs'],
    meaning: 'from the start of the last attempt to the first byte of the answer',
  },
  tunnel: {
    part: 'rare',
    stage: 'admit',
    type: 'text',
    from: ['tunnel'],
    meaning: 'the tunnel that passed the request on',
  },
  stream: {
    part: 'rare',
    stage: 'forward',
    type: '`events`, `lines`, `websocket`',
    from: ['stream'],
    meaning: 'the kind of an answer that stays open: an event stream, lines of JSON, a WebSocket',
  },
  stream_end: {
    part: 'rare',
    stage: 'forward',
    type: '`drain`, `reload`, `credential`, `contract`, `too_long`',
    from: ['streamEnd'],
    meaning:
      'why the gateway ended the stream: its process ended, the operation was gone, the key, token or organization was no longer valid, an item violated the contract, or it took longer than `maxStreamMs`; absent if the client or the target ended it',
  },
  code: {
    part: 'rare',
    stage: 'exchange',
    type: 'text',
    from: ['code'],
    of: (_, { code }) => code,
    meaning: 'the error code of the answer',
  },
  client_request_id: {
    part: 'rare',
    stage: 'admit',
    type: 'text',
    from: ['clientRequestId'],
    meaning: 'the `X-Request-Id` that the client sent',
  },
  shadow_refused: {
    part: 'rare',
    stage: 'limit',
    type: 'list of texts',
    from: ['shadowRefusals'],
    meaning: 'shadow limits that would have refused the request',
  },
  replayed: {
    part: 'rare',
    stage: 'replay',
    type: '`true`',
    from: ['replayed'],
    meaning: 'a repeated `Idempotency-Key` got the kept answer',
  },
  recorded: {
    part: 'rare',
    stage: 'replay',
    type: '`true`',
    from: ['recorded'],
    meaning: 'a new `Idempotency-Key`, whose answer is kept',
  },
  outcome_unknown: {
    part: 'rare',
    stage: 'replay',
    type: '`true`',
    from: ['outcomeUnknown'],
    meaning: 'the request with the new `Idempotency-Key` was sent, and its outcome is unknown: repetitions are refused',
  },
  attempts: {
    part: 'rare',
    stage: 'forward',
    type: 'integer',
    from: ['retries', 'attempts'],
    of: ({ retries }, { attempts }) => retries && attempts,
    meaning: 'how often the request was sent, if more than once',
  },
  retries: {
    part: 'rare',
    stage: 'forward',
    type: 'list of texts',
    from: ['retries'],
    meaning: 'the reason of each further attempt',
  },
  retry_budget_spent: {
    part: 'rare',
    stage: 'forward',
    type: '`true`',
    from: ['retryBudgetSpent'],
    meaning: 'a further attempt was left out, because the retry budget of the upstream was spent',
  },
  answer_violations: {
    part: 'rare',
    stage: 'forward',
    type: 'list of texts',
    from: ['answerViolations'],
    meaning: 'where the answer violates the contract',
  },
  withheld: {
    part: 'rare',
    stage: 'forward',
    type: 'list of texts',
    from: ['droppedQuery', 'notSent', 'withheld'],
    of: withheldIn,
    meaning:
      'headers of the answer that did not reach the client (`set-cookie: name` for a cookie), and `cookie: name` for a declared cookie that did not reach the service, and `query: name` for an undeclared parameter that was left out',
  },
  compressed: {
    part: 'rare',
    stage: 'forward',
    type: 'text',
    from: ['compressed'],
    meaning: 'the coding in which the gateway compressed the answer',
  },
  cause: {
    part: 'rare',
    stage: 'forward',
    type: 'text',
    from: ['cause', 'code'],
    of: causeIn,
    meaning: 'what went wrong between the gateway and its target; for `internal_error`, the stack',
  },
  required_scopes: {
    part: 'refusal',
    stage: 'authorize',
    type: 'list of texts',
    from: ['refusal'],
    meaning: `${REFUSED}: the scopes of the operation`,
  },
  violated_policies: {
    part: 'refusal',
    stage: 'limit',
    type: 'list of texts',
    from: ['refusal'],
    meaning: `${REFUSED}: the limits that refused`,
  },
  max_bytes: {
    part: 'refusal',
    stage: 'validate',
    type: 'bytes',
    from: ['refusal'],
    meaning: `${REFUSED}: the size that was exceeded`,
  },
  held_scopes: {
    part: 'refusal',
    stage: 'authorize',
    type: 'list of texts',
    from: ['refusal', 'caller'],
    meaning: `${REFUSED}: the scopes of the caller, at most 64`,
  },
  path: {
    part: 'refusal',
    stage: 'match',
    type: 'text',
    from: ['refusal'],
    meaning: 'the path of a request that no operation has; `{…}` stands for each part that may be a value',
  },
  hint: {
    part: 'refusal',
    stage: 'authenticate',
    type: 'text',
    from: ['refusal'],
    meaning: `${REFUSED}: the reason in one word`,
  },
  retry_after: {
    part: 'refusal',
    stage: 'throttle',
    type: 'seconds',
    from: ['refusal'],
    meaning: `${REFUSED}: the \`Retry-After\` of the answer`,
  },
  violations: {
    part: 'refusal',
    stage: 'validate',
    type: 'list of objects',
    from: ['refusal', 'violations'],
    meaning: `${REFUSED}: place, code and constraint of each violation of the contract`,
  },
  stages_ms: {
    part: 'stages',
    stage: 'exchange',
    type: 'object of ms',
    from: ['startedAt', 'endedAt', 'ended', 'forwardedAt'],
    meaning:
      'time of `authenticate` (with everything before it), `limit` (with `authorize`), `validate`, `replay` and `forward`: for refusals that got past `authenticate`, and for exchanges of 250 ms and more',
  },
  queued_ms: {
    part: 'queued',
    stage: 'forward',
    type: 'ms',
    from: ['queuedMs'],
    meaning: 'the part of the duration that was spent in the queue of the upstream',
  },
  worker: {
    part: 'end',
    stage: 'admit',
    type: 'integer',
    from: [],
    meaning: 'the worker that handled the exchange; absent if there is a single process',
  },
  msg: { part: 'end', stage: 'exchange', type: 'text', from: [], meaning: '`exchange`' },
} as const satisfies Readonly<Record<string, UsualField | RareField>>;

export type LogFieldName = keyof typeof LOG_FIELDS;
type Part = (typeof LOG_FIELDS)[LogFieldName]['part'];

/** The members of a part. */
export type LogFieldsOf<P extends Part> = {
  [Name in LogFieldName]: (typeof LOG_FIELDS)[Name]['part'] extends P ? Name : never;
}[LogFieldName];

/** Text that has every member of the parts; the compiler reads it from template literals that are `as const`. */
export type TextOf<P extends Part> = TextWith<LogFieldsOf<P>>;
type TextWith<Name> = (Name extends string ? (text: `${string}"${Name}":${string}`) => void : never) extends (
  text: infer Text,
) => void
  ? Text
  : never;

/** The members that most lines lack, in their order. */
export const RARE_LOG_FIELDS: readonly (readonly [
  name: LogFieldName,
  of: (rare: RareNotes, trail: Trail) => unknown,
])[] = Object.entries<UsualField | RareField>(LOG_FIELDS).flatMap(([name, field]) =>
  isRare(field) ? [[name as LogFieldName, field.of ?? noteOf(field)] as const] : [],
);

function isRare(field: UsualField | RareField): field is RareField {
  return field.part === 'rare';
}

function noteOf({ from: [name] }: RareField): (rare: RareNotes) => unknown {
  return (rare) => rare[name as keyof RareNotes];
}

/** Notes for the other readers of the trail: a trace continues the client's, and has no member of its own. */
type NotInLine = 'clientTraceparent' | 'clientLeft' | 'note';
type Note = keyof TrailNotes | keyof RareNotes;
type Noted = (typeof LOG_FIELDS)[LogFieldName]['from'][number];
type Never<Name extends never> = Name;
/** Does not compile if a note is in no member, or if a trail cannot hold it. */
export type EveryNoteIsLogged = Never<Exclude<Note, Noted | NotInLine> | Exclude<keyof TrailNotes, keyof Trail>>;

/** What did not cross, in both directions. */
function withheldIn({ droppedQuery, notSent, withheld }: RareNotes): readonly string[] | undefined {
  if (droppedQuery !== undefined)
    return [...droppedQuery.map((name) => `query: ${name}`), ...(notSent ?? []), ...(withheld ?? [])];
  return notSent && withheld ? [...notSent, ...withheld] : (notSent ?? withheld);
}

/** Logs the stack only for bugs; the code identifies all other errors. */
function causeIn({ cause }: RareNotes, { code }: Trail): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  if (code === 'internal_error') return cause.stack;
  const systemCode = (cause as NodeJS.ErrnoException).code;
  return systemCode === undefined ? cause.message : `${systemCode}: ${cause.message}`;
}
