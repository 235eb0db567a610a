// Pure: what each field of a decision record tells about the stages, in the order in which it is told.

import type { StageName } from '../../stages.ts';
import { withheldText } from '../withheld.ts';
import { callerIn } from './caller-text.ts';
import { decisionIn, eachLimit, tightestLimit } from './limit-text.ts';
import type { DecisionRecord, Members, RecordName } from './record.ts';

export type StageOutcome = 'passed' | 'refused' | 'answered' | 'not reached';

/** Called if the record has the field. */
type Tell = (value: unknown, record: DecisionRecord, outcome: StageOutcome) => string | undefined | readonly string[];

/** By stage; a text: the fact is told there, which may be with another field. */
type Fact = Readonly<Partial<Record<StageName, Tell>>> | RecordName | 'head' | 'verdict' | 'durations' | 'nowhere';

const matchRefusals: Readonly<Record<string, string>> = {
  method_not_allowed: 'operations have this path, none of them with this method',
  method_not_implemented: 'no operation at all has this method',
  version_sunset: 'this version of the operation has ended',
  version_unknown: 'there is no such version',
};

const replayRefusals: Readonly<Record<string, string>> = {
  idempotency_key_in_use: 'a request with this Idempotency-Key is still running',
  idempotency_key_reused: 'this Idempotency-Key belongs to another request',
  idempotency_result_not_retained: 'this Idempotency-Key was answered before, with more than is kept',
  idempotency_outcome_unknown:
    'a request with this Idempotency-Key was sent before, and whether it was executed is not known: it is not sent again',
  gateway_overloaded: 'the store of answers could not be asked in time',
};

const streamKinds: Readonly<Record<string, string>> = {
  events: 'an event stream',
  lines: 'a stream of JSON lines',
  websocket: 'a WebSocket',
};

const streamEnds: Readonly<Record<string, string>> = {
  drain: 'the gateway ended it, because its process ended',
  reload: 'the gateway ended it, because the operation was gone after a reload',
  credential: 'the gateway ended it, because the key, token or organization was no longer valid',
  contract: 'the gateway ended it, because an item violated the contract',
  too_long: 'the gateway ended it after maxStreamMs',
};

/** A field of the log line without an entry does not compile. */
export const FACTS = {
  request_id: 'head',
  time: 'head',
  msg: 'nowhere',
  level: 'nowhere',
  method: 'verdict',
  stage: 'verdict',
  status: 'verdict',
  duration_ms: 'verdict',
  stages_ms: 'durations',
  rehearsed: 'verdict',

  client: { admit: (client) => `client ${client}` },
  client_request_id: { admit: (id) => `client request id ${id}` },
  max_bytes: {
    admit: (max) => `the maximum is ${max} bytes`,
    validate: (max, { stage, violations }) =>
      stage === 'validate' && !Array.isArray(violations) ? `the maximum is ${max} bytes` : undefined,
  },
  tunnel: { admit: (tunnel) => `passed on as it was, through the tunnel ${tunnel}` },
  worker: { admit: (worker) => `worker ${worker}` },

  retry_after: {
    throttle: (after, _, outcome) =>
      outcome === 'refused' ? `the address has failed too often; it may come back after ${after} s` : undefined,
  },

  operation: {
    match: (operation, { method, route, upstream }, outcome) =>
      outcome === 'refused' ? undefined : `${operation}: ${method} ${route}, of upstream ${upstream}`,
  },
  route: 'operation',
  upstream: 'operation',
  path: { match: (path, { method }) => `${method} ${path}` },

  mode: { authenticate: (_, record) => callerIn(record) },
  organization: 'mode',
  tier: 'mode',
  key_id: 'mode',
  token_issuer: 'mode',
  subject: 'mode',
  hint: { authenticate: (hint, { stage }) => (stage === 'authenticate' ? `reason: ${hint}` : undefined) },

  required_scopes: { authorize: (scopes, _, outcome) => scopesIn('required', scopes, outcome) },
  held_scopes: { authorize: (scopes, _, outcome) => scopesIn('held', scopes, outcome) },

  limits: { limit: (limits, record) => eachLimit(membersIn(limits), record) },
  shadow_refused: 'limits',
  violated_policies: 'limits',
  limit: { limit: (_, record) => tightestLimit(record) },
  limit_remaining: 'limit',
  limit_quota: 'limit',
  limit_source: { limit: (_, record) => decisionIn(record) },
  decided_at: 'limit_source',

  bytes_in: { validate: (bytes) => (Number(bytes) > 0 ? `body of ${bytes} bytes` : undefined) },
  violations: { validate: (violations) => membersIn(violations).map(violationText) },

  replayed: { replay: () => 'this Idempotency-Key was answered before; that answer was given again' },
  recorded: {
    replay: (_, { outcome_unknown: lost }) => (lost === true ? undefined : 'a new Idempotency-Key: the answer is kept'),
  },
  outcome_unknown: {
    replay: () => 'a new Idempotency-Key: it was sent and its outcome is unknown, so the key is refused from then on',
  },

  queued_ms: { forward: (ms) => `it waited ${ms} ms in the queue of the upstream` },
  target: {
    forward: (target, { rehearsed }) => `${rehearsed === true ? 'would be ' : ''}${sentTo(String(target))}`,
  },
  attempts: { forward: (attempts, { retries }) => `it took ${attempts} attempts: ${listIn(retries).join(', ')}` },
  retries: 'attempts',
  retry_budget_spent: { forward: () => 'the retry budget of the upstream is spent' },
  code: {
    match: (code, _, outcome) =>
      outcome === 'refused' ? (matchRefusals[String(code)] ?? 'no operation has this method and path') : undefined,
    authorize: (_, { required_scopes: required, mode, tier }, outcome) =>
      outcome === 'refused' && required === undefined ? `mode ${mode}, tier ${tier}` : undefined,
    replay: (code, _, outcome) => (outcome === 'refused' ? replayRefusals[String(code)] : undefined),
    forward: (_, { target, upstream_status: status }, outcome) =>
      outcome === 'refused' && target !== undefined && status === undefined ? 'it did not answer' : undefined,
  },
  upstream_status: { forward: (status, { upstream_ms: ms }) => `it answered ${status} after ${ms} ms` },
  upstream_ms: 'upstream_status',
  cause: { forward: (cause, _, outcome) => (outcome === 'refused' ? `cause: ${cause}` : undefined) },
  answer_violations: {
    forward: (violations) => listIn(violations).map((text) => `not as the contract says: ${text}`),
  },
  withheld: { forward: (fields) => listIn(fields).map((field) => withheldText(String(field))) },
  compressed: { forward: (coding) => `the gateway compressed the answer: ${coding}` },
  bytes_out: {
    forward: (bytes, { rehearsed }, outcome) =>
      outcome === 'answered' && rehearsed !== true ? `${bytes} bytes to the client` : undefined,
  },
  times: { forward: timesText },
  open_streams_max: {
    forward: (most) => `it may stay open; the organization may have ${most} open streams in each process`,
  },
  stream: { forward: (kind) => `it was ${streamKinds[String(kind)]}` },
  stream_end: { forward: (end) => streamEnds[String(end)] },
  trace_id: { forward: (trace) => `trace ${trace}` },
} satisfies Readonly<Record<RecordName, Fact>>;

/** A log may be damaged: what is not a list is an empty one. */
function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function membersIn(value: unknown): readonly Members[] {
  return listIn(value).filter((one): one is Members => typeof one === 'object' && one !== null);
}

function violationText({ in: place, param, code, constraint }: Members): string {
  const limit = constraint === undefined ? '' : ` ${JSON.stringify(constraint)}`;
  return `${place} ${param === '' ? '(the whole)' : param}: ${code}${limit}`;
}

function scopesIn(which: string, scopes: unknown, outcome: StageOutcome): string | undefined {
  return outcome === 'refused' ? `${which} scopes: ${listIn(scopes).join(' ') || 'none'}` : undefined;
}

/** A target that is no address is the contract: `examples:<upstream>`. */
function sentTo(target: string): string {
  return target.startsWith('examples:') ? `answered from the contract of ${target.slice(9)}` : `sent to ${target}`;
}

/** The times of an answer in a simulation. */
function timesText(times: unknown): string | undefined {
  const [{ head_ms, idle_ms, stream_ms } = {}] = membersIn([times]);
  const whole = stream_ms === undefined ? '' : `, its body ${stream_ms} ms`;
  return `the head of the answer may take ${head_ms} ms, a pause in its body ${idle_ms} ms${whole}`;
}
