// Pure: the text for one stage of a decision record.

import { STATELESS_STAGES, type StageName } from '../../exchange.ts';
import { shortTime } from '../print.ts';
import { withheldText } from '../withheld.ts';
import type { DecisionRecord } from './record.ts';
import { ANY_KEY } from './who.ts';

export type StageOutcome = 'passed' | 'refused' | 'answered' | 'not reached';

type StageText = (record: DecisionRecord, outcome: StageOutcome) => (string | undefined)[];

/** A stage that notes no facts of its own is not here: the verdict has its code and message. */
const texts: Readonly<Partial<Record<StageName, StageText>>> = {
  admit: ({ client, client_request_id: own, max_bytes: max, tunnel, worker }) => [
    client === undefined ? undefined : `client ${client}`,
    own === undefined ? undefined : `client request id ${own}`,
    max === undefined ? undefined : `the maximum is ${max} bytes`,
    tunnel === undefined ? undefined : `passed on as it was, through the tunnel ${tunnel}`,
    worker === undefined ? undefined : `worker ${worker}`,
  ],
  throttle: ({ retry_after: after }, outcome) => [
    outcome === 'refused' ? `the address has failed too often; it may come back after ${after} s` : undefined,
  ],
  match: ({ operation, route, upstream, method, code, path }, outcome) =>
    outcome === 'refused'
      ? [
          path === undefined ? undefined : `${method} ${path}`,
          matchRefusals[String(code)] ?? 'no operation has this method and path',
        ]
      : [operation === undefined ? undefined : `${operation}: ${method} ${route}, of upstream ${upstream}`],
  authenticate: (record) => [callerIn(record), hintIn(record)],
  authorize: (record, outcome) =>
    outcome === 'refused'
      ? [
          listIn('required scopes', record.required_scopes),
          listIn('held scopes', record.held_scopes),
          record.required_scopes === undefined ? `mode ${record.mode}, tier ${record.tier}` : undefined,
        ]
      : [],
  limit: limitText,
  validate: (record) => violationsIn(record),
  replay: ({ replayed, recorded, outcome_unknown: lost, code }, outcome) => [
    replayed === true ? 'this Idempotency-Key was answered before; that answer was given again' : undefined,
    recorded === true && lost !== true ? 'a new Idempotency-Key: the answer is kept' : undefined,
    lost === true
      ? 'a new Idempotency-Key: it was sent and its outcome is unknown, so the key is refused from then on'
      : undefined,
    outcome === 'refused' ? replayRefusals[String(code)] : undefined,
  ],
  forward: forwardText,
};

/** Stages that a simulation runs. The others need a running gateway. */
const simulated: ReadonlySet<StageName> = new Set([...STATELESS_STAGES, 'authenticate', 'limit', 'forward']);

const whyNotTried: Readonly<Partial<Record<StageName, string>>> = {
  throttle: 'only a running gateway knows which addresses are blocked',
  replay: 'looking up an Idempotency-Key reserves it',
};

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

/** Lines for people; empty if the record has nothing about the stage. */
export function stageText(stage: StageName, record: DecisionRecord, outcome: StageOutcome): string[] {
  if (record.rehearsed === true && !simulated.has(stage))
    return [`not tried: ${whyNotTried[stage] ?? 'only a running gateway can'}`];
  return texts[stage]?.(record, outcome).filter((line) => line !== undefined) ?? [];
}

function callerIn({ organization, tier, key_id, token_issuer, subject, mode }: DecisionRecord): string | undefined {
  if (mode === undefined) return undefined;
  const who =
    token_issuer !== undefined
      ? `token of ${token_issuer} for ${subject}`
      : key_id === undefined
        ? `user name ${subject}`
        : key_id === 'anonymous'
          ? 'anonymous: the operation is public'
          : key_id === ANY_KEY
            ? 'any key'
            : `key ${key_id}`;
  return organization === undefined ? who : `${who}, organization ${organization}, tier ${tier}, mode ${mode}`;
}

function hintIn({ hint, stage }: DecisionRecord): string | undefined {
  return hint === undefined || stage !== 'authenticate' ? undefined : `reason: ${hint}`;
}

function listIn(what: string, list: unknown): string | undefined {
  return Array.isArray(list) ? `${what}: ${list.length === 0 ? 'none' : list.join(' ')}` : undefined;
}

function limitText(record: DecisionRecord): (string | undefined)[] {
  const { limit, limit_quota, limit_remaining, limits, limit_source: source, decided_at: decidedAt } = record;
  if (source === undefined) return ['nothing counts this request'];
  const violated = Array.isArray(record.violated_policies) ? record.violated_policies : [];
  const shadow = Array.isArray(record.shadow_refused) ? record.shadow_refused : [];
  const each = Array.isArray(limits)
    ? (limits as DecisionRecord[]).map((one) => {
        const { policy, quota, remaining, wait_ms: waitMs, cost = 1 } = one;
        if (record.rehearsed === true)
          return `${policy}: ${remaining} of ${quota} left, this would take ${cost}${violated.includes(policy) ? `; more in ${waitMs} ms` : ''}${one.shadow === true ? ', a shadow limit' : ''}`;
        const outcome = violated.includes(policy)
          ? 'refused'
          : shadow.includes(policy)
            ? 'would have refused'
            : 'admitted';
        const kind = one.shadow === true ? ', a shadow limit' : '';
        return `${policy}: ${outcome} a cost of ${cost}; ${remaining} of ${quota} left, more in ${waitMs} ms${kind}`;
      })
    : [];
  const single =
    each.length > 0 || limit === undefined
      ? undefined
      : `${limit}: admitted; ${limit_remaining} of ${limit_quota} left`;
  const decider = sources[String(source)] ?? `the store ${source}`;
  const looked = `as ${decider} has counted`;
  if (record.rehearsed === true) return [...each, looked];
  return [...each, single, `decided by ${decider} at ${timeIn(decidedAt)}`];
}

const sources: Readonly<Record<string, string>> = {
  redis: 'Redis',
  process: 'this process',
  unknown: 'no store',
  known: 'a refusal still in force (no store was asked)',
  local: 'this process, with its share, while Redis was away',
  allow: 'the setting to admit all requests while Redis was away',
  refuse: 'the setting to refuse all requests while Redis was away',
};

function timeIn(atMs: unknown): string {
  return typeof atMs === 'number' ? new Date(atMs).toISOString() : shortTime(undefined);
}

function violationsIn({
  violations,
  bytes_in: bytesIn,
  max_bytes: max,
  stage,
}: DecisionRecord): (string | undefined)[] {
  const body = typeof bytesIn === 'number' && bytesIn > 0 ? `body of ${bytesIn} bytes` : undefined;
  const most = max !== undefined && stage === 'validate' ? `the maximum is ${max} bytes` : undefined;
  if (!Array.isArray(violations)) return [body, most];
  const each = (violations as DecisionRecord[]).map(
    ({ in: place, param, code, constraint }) =>
      `${place} ${param === '' ? '(the whole)' : param}: ${code}${constraint === undefined ? '' : ` ${JSON.stringify(constraint)}`}`,
  );
  return [body, ...each];
}

function forwardText(record: DecisionRecord, outcome: StageOutcome): (string | undefined)[] {
  const { target, upstream_status: status, upstream_ms: ms, attempts, cause, trace_id: trace, bytes_out: out } = record;
  const answers = Array.isArray(record.answer_violations) ? record.answer_violations : [];
  const withheld = Array.isArray(record.withheld) ? record.withheld : [];
  return [
    target === undefined ? undefined : `${record.rehearsed === true ? 'would be ' : ''}${sentTo(String(target))}`,
    attempts === undefined ? undefined : `it took ${attempts} attempts: ${listed(record.retries)}`,
    record.retry_budget_spent === true ? 'the retry budget of the upstream is spent' : undefined,
    status === undefined
      ? outcome === 'refused' && target !== undefined
        ? 'it did not answer'
        : undefined
      : `it answered ${status} after ${ms} ms`,
    outcome === 'refused' && cause !== undefined ? `cause: ${cause}` : undefined,
    ...answers.map((text) => `not as the contract says: ${text}`),
    ...withheld.map((field) => withheldText(String(field))),
    record.compressed === undefined ? undefined : `the gateway compressed the answer: ${record.compressed}`,
    typeof out === 'number' && outcome === 'answered' && record.rehearsed !== true
      ? `${out} bytes to the client`
      : undefined,
    ...streamText(record),
    trace === undefined ? undefined : `trace ${trace}`,
  ];
}

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

/** The times of an answer in a rehearsal, and what became of a stream. */
function streamText({
  times,
  stream,
  stream_end: end,
  open_streams_max: most,
}: DecisionRecord): (string | undefined)[] {
  const bounds = times as Readonly<Record<string, number | undefined>> | undefined;
  return [
    bounds === undefined
      ? undefined
      : `the head of the answer may take ${bounds.head_ms} ms, a pause in its body ${bounds.idle_ms} ms${bounds.stream_ms === undefined ? '' : `, its body ${bounds.stream_ms} ms`}`,
    most === undefined ? undefined : `it may stay open; the organization may have ${most} open streams in each process`,
    stream === undefined ? undefined : `it was ${streamKinds[String(stream)]}`,
    end === undefined ? undefined : streamEnds[String(end)],
  ];
}

/** A target that is no address is the contract: `examples:<upstream>`. */
function sentTo(target: string): string {
  return target.startsWith('examples:') ? `answered from the contract of ${target.slice(9)}` : `sent to ${target}`;
}

function listed(list: unknown): string {
  return Array.isArray(list) ? list.join(', ') : '';
}
