// Formats the log line of one exchange. This runs for every request, so it must be cheap. A general serializer would need 12 µs of CPU for
// the 27 members. Most of a line depends only on the caller or on the operation. The text of each such part is cached as one string,
// because the time to join and encode a line grows with the number of its pieces.

import type { LogFieldsOf, TextOf } from '../../catalogue/log-fields.ts';
import type { Caller } from '../../exchange/caller.ts';
import { CallerNote } from '../../exchange/caller-memory.ts';
import type { ChargedUnits } from '../../exchange/findings.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { Trail } from '../../exchange/trail.ts';
import { memoize } from '../../shared/memoize.ts';
import { flat } from '../../shared/text.ts';
import { rarePart } from './line-rare.ts';
import { members, milliseconds } from './line-text.ts';

/** Returns one line of JSON with its newline. It contains pino's members (`level`, `time`, `msg`), as all other lines of the log do. */
type LineOf = (trail: Trail, level: number, timeMs: number) => string;

/** The values of a line about method, stage, status and operation. */
interface MatchedPart {
  readonly method: string;
  readonly stage: string;
  readonly text: string;
}

type MatchedParts = Map<number, MatchedPart>;

/** The text about a caller, cached with the caller. */
const callerTexts = new CallerNote<string>();

/** @param worker the worker that writes the lines; undefined if the gateway is a single process */
export function createLineOf(worker?: number | 'primary'): LineOf {
  const end = { worker, msg: 'exchange' } satisfies Record<LogFieldsOf<'end'>, unknown>;
  const tail = flat(`${members(end)}}\n`);
  const operations = new WeakMap<Operation, MatchedParts>();
  const unmatched: MatchedParts = new Map();

  function partsOf(operation: Operation | undefined): MatchedParts {
    if (operation === undefined) return unmatched;
    let parts = operations.get(operation);
    if (parts === undefined) {
      parts = new Map();
      operations.set(operation, parts);
    }
    return parts;
  }

  /**
   * Returns the part about method, stage, status and operation. Remembers the last part of each operation and status, because the next
   * exchange of that operation and status mostly has the same method and stage.
   */
  function matchedPart({ operation, method, stage, status }: Trail): string {
    const parts = partsOf(operation);
    const known = parts.get(status);
    if (known !== undefined && known.method === method && known.stage === stage) return known.text;
    const matched: TextOf<'matched'> = `","method":"${method}","stage":"${stage}","status":${status}` as const;
    const text = flat(matched + (operation === undefined ? '' : operationPart(operation)));
    parts.set(status, { method, stage, text });
    return text;
  }

  // The last beginning of a line is remembered, because ten or more requests may end in one millisecond.
  let beganLevel = 0;
  let beganMs = 0;
  let began: TextOf<'start'> | undefined;

  function beginning(level: number, timeMs: number): TextOf<'start'> {
    if (began === undefined || timeMs !== beganMs || level !== beganLevel) {
      beganLevel = level;
      beganMs = timeMs;
      began = `{"level":${level},"time":${timeMs},"request_id":"` as const;
    }
    return began;
  }

  const limitPart = createLimitPart();

  return function lineOf(trail, level, timeMs) {
    const { caller, clientAddress } = trail;
    const head = `${beginning(level, timeMs)}${trail.id}${matchedPart(trail)}${caller ? callerPart(caller) : ''}`;
    const client: TextOf<'client'> | '' = clientAddress === undefined ? '' : (`,"client":"${clientAddress}"` as const);
    const durationMs = trail.durationMs();
    return `${head}${client}${sizePart(trail, durationMs)}${limitPart(trail)}${upstreamPart(trail)}${rarePart(trail, durationMs)}${tail}`;
  };
}

function callerPart(caller: Caller): string {
  let part = callerTexts.get(caller);
  if (part === undefined) {
    part = flat(
      members<LogFieldsOf<'caller'>>({
        organization: caller.organization?.id,
        tier: caller.organization?.tier,
        ...credentialOf(caller),
        mode: caller.mode,
      }),
    );
    callerTexts.set(caller, part);
  }
  return part;
}

function operationPart({ id, path, upstream }: Operation): string {
  return members<LogFieldsOf<'operation'>>({ operation: id, route: path, upstream });
}

/** Returns the members about the credential. A caller with user name and password has no key id. */
function credentialOf({ scheme, issuer, subject, session }: Caller) {
  const hasKey = scheme !== 'basic' && issuer === undefined;
  return {
    key_id: hasKey ? subject : undefined,
    token_issuer: issuer,
    subject: hasKey ? undefined : subject,
    session,
  };
}

function sizePart({ bytesIn, bytesOut }: Trail, durationMs: number): TextOf<'size'> {
  return `,"duration_ms":${milliseconds(durationMs)},"bytes_in":${bytesIn},"bytes_out":${bytesOut}` as const;
}

/**
 * Makes the part about limits: the limit nearest to refusing the request, its remaining units, and the source of the decision. A shadow
 * limit is never named as the limit. If a request has only shadow limits, the line contains only the source of the decision.
 */
function createLimitPart(): (trail: Trail) => string {
  const policyPart = memoize((policy: string) => flat(`,"limit":"${policy}","limit_remaining":` as const));
  let decidedBy: string | undefined;
  let decidedAtMs = 0;
  let decided: TextOf<'decision'> | undefined;

  /** Returns the text about the decision. The last text is cached, because the store decides about many requests at once. */
  function decisionPart(source: string | undefined, atMs: number): TextOf<'decision'> {
    if (decided === undefined || source !== decidedBy || atMs !== decidedAtMs) {
      decidedBy = source;
      decidedAtMs = atMs;
      decided = `,"limit_source":"${source}","decided_at":${atMs}` as const;
    }
    return decided;
  }

  return (trail) => {
    const { limits, limitSource, limitDecidedAtMs, rare, stage, code } = trail;
    if (limitDecidedAtMs === undefined) return '';
    const decision = decisionPart(limitSource, limitDecidedAtMs);
    const tightest = limits?.tightest;
    // If a single enforced limit counted the request and admitted it, `limit`, `limit_remaining` and `limit_quota` describe it completely.
    const isComplete =
      limits === undefined || (limits.states.length === 1 && tightest !== undefined && !rare?.shadowRefusals);
    const all = isComplete && !(stage === 'limit' && code !== undefined) ? '' : limitsPart(trail);
    if (tightest === undefined) return `${all}${decision}`;
    const { policy, remaining, limit } = tightest;
    const tightestPart: TextOf<'limit'> = `${policyPart(policy)}${remaining},"limit_quota":${limit}` as const;
    return `${tightestPart}${all}${decision}`;
  };
}

const quotaPart = memoize((policy: string) =>
  memoize((limit: number) => flat(`{"policy":"${policy}","quota":${limit},"remaining":` as const)),
);

/** Lists each limit that counts the request; `wait_ms` is the time until more units are free. */
function limitsPart({ limits, charged }: Trail): TextOf<'limits'> | '' {
  if (limits === undefined || limits.states.length === 0) return '';
  let texts = '';
  limits.states.forEach(({ policy, limit, remaining, resetMs }, index) => {
    const charge = charged?.[index];
    const separator = index === 0 ? '' : ',';
    texts += `${separator}${quotaPart(policy)(limit)}${remaining},"wait_ms":${resetMs}${charge ? chargePart(charge) : ''}}`;
  });
  return `,"limits":[${texts}]` as const;
}

function chargePart({ cost, enforce }: ChargedUnits): string {
  return `${cost === 1 ? '' : `,"cost":${cost}`}${enforce ? '' : ',"shadow":true'}`;
}

const targetPart = memoize((target: string) => flat(`,"target":"${target}","trace_id":"` as const));
/** The text of an exchange with a target but no trace, which happens with the gateway's own contract, or in a rehearsal. */
const untracedPart = memoize((target: string) => flat(`,"target":"${target}` as const));
const answerPart = memoize((status: number) => flat(`","upstream_status":${status},"upstream_ms":` as const));

function upstreamPart({ target, traceId, upstreamStatus, upstreamMs }: Trail): string {
  if (target === undefined)
    return traceId === undefined ? '' : (`,"trace_id":"${traceId}"` as const satisfies TextOf<'trace'>);
  const traced = traceId === undefined ? untracedPart(target) : (`${targetPart(target)}${traceId}` as const);
  if (upstreamMs === undefined || upstreamStatus === undefined) return `${traced}"`;
  const answered: TextOf<'answer'> = `${answerPart(upstreamStatus)}${milliseconds(upstreamMs)}` as const;
  return traced + answered;
}
