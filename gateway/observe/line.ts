// Formats the log line of one exchange. Written by hand, because it runs for every request: a general serializer visits 27 members and
// joins 60 pieces (12 µs of CPU, measured through a whole gateway), while most of a line is the same for a caller and an operation. These
// parts are remembered, each in one piece, because every piece of a line costs when the line is joined and when it is encoded.

import type { Caller, Operation } from '../exchange.ts';
import { flat } from '../shared/flat-text.ts';
import type { Trail } from '../trail.ts';
import { rarePart } from './line-rare.ts';
import { members, milliseconds } from './line-text.ts';
import { memoize } from './memoize.ts';

export interface Lines {
  /**
   * Returns one line of JSON with its newline, with pino's members (`level`, `time`, `msg`), so that all lines of a log have one format.
   */
  lineOf(trail: Trail, level: number, timeMs: number): string;
}

/** What a line says about method, stage, status and operation. */
interface MatchedPart {
  readonly method: string;
  readonly stage: string;
  readonly text: string;
}

type MatchedParts = Map<number, MatchedPart>;

/** @param worker the worker that writes the lines; undefined: the gateway is a single process */
export function createLines(worker?: number | 'primary'): Lines {
  const tail = flat(`${members({ worker })},"msg":"exchange"}\n`);
  const callers = new WeakMap<Caller, string>();
  const operations = new WeakMap<Operation, MatchedParts>();
  const unmatched: MatchedParts = new Map();

  function callerPart(caller: Caller): string {
    let part = callers.get(caller);
    if (part === undefined) {
      part = flat(
        members({
          organization: caller.organization?.id,
          tier: caller.organization?.tier,
          ...credentialOf(caller),
          mode: caller.mode,
        }),
      );
      callers.set(caller, part);
    }
    return part;
  }

  function partsOf(operation: Operation | undefined): MatchedParts {
    if (operation === undefined) return unmatched;
    let parts = operations.get(operation);
    if (parts === undefined) {
      parts = new Map();
      operations.set(operation, parts);
    }
    return parts;
  }

  /** One part is remembered for each operation and status: a status mostly comes with one method and from one stage. */
  function matchedPart({ operation, method, stage, status }: Trail): string {
    const parts = partsOf(operation);
    const known = parts.get(status);
    if (known !== undefined && known.method === method && known.stage === stage) return known.text;
    const of = operation && { operation: operation.id, route: operation.path, upstream: operation.upstream };
    const text = flat(`","method":"${method}","stage":"${stage}","status":${status}${of ? members(of) : ''}`);
    parts.set(status, { method, stage, text });
    return text;
  }

  // Remembered, because ten or more requests share a millisecond.
  let beganLevel = 0;
  let beganMs = 0;
  let began = '';

  function beginning(level: number, timeMs: number): string {
    if (timeMs !== beganMs || level !== beganLevel) {
      beganLevel = level;
      beganMs = timeMs;
      began = `{"level":${level},"time":${timeMs},"request_id":"`;
    }
    return began;
  }

  const quotaPart = createQuotaPart();

  function lineOf(trail: Trail, level: number, timeMs: number): string {
    const { caller, clientAddress } = trail;
    const head = `${beginning(level, timeMs)}${trail.id}${matchedPart(trail)}${caller ? callerPart(caller) : ''}`;
    const client = clientAddress === undefined ? '' : `,"client":"${clientAddress}"`;
    const durationMs = trail.durationMs();
    const cost = `,"duration_ms":${milliseconds(durationMs)},"bytes_in":${trail.bytesIn},"bytes_out":${trail.bytesOut}`;
    return `${head}${client}${cost}${quotaPart(trail)}${upstreamPart(trail)}${rarePart(trail, durationMs)}${tail}`;
  }

  return { lineOf };
}

/** A caller with user name and password has no key id. */
function credentialOf({ scheme, issuer, subject }: Caller): Record<string, string> {
  if (scheme === 'basic') return { subject };
  return issuer === undefined ? { key_id: subject } : { token_issuer: issuer, subject };
}

/** Shadow limits do not appear as the limit of a request, but they were decided, so they are logged. */
function createQuotaPart(): (trail: Trail) => string {
  const policyPart = memoize((policy: string) => flat(`,"limit":"${policy}","limit_remaining":`));
  let decidedBy: string | undefined;
  let decidedAtMs = 0;
  let decided = '';

  /** Remembered, because the store decides on many requests at once. */
  function decisionPart(source: string | undefined, atMs: number): string {
    if (source !== decidedBy || atMs !== decidedAtMs) {
      decidedBy = source;
      decidedAtMs = atMs;
      decided = `,"limit_source":"${source}","decided_at":${atMs}`;
    }
    return decided;
  }

  return (trail) => {
    const { quota, quotaSource, quotaDecidedAtMs, shadowRefusals, stage, code } = trail;
    if (quotaDecidedAtMs === undefined) return '';
    const decision = decisionPart(quotaSource, quotaDecidedAtMs);
    const tightest = quota?.tightest;
    // For a single enforced limit that admitted the request, the members of the tightest say everything.
    const isComplete = quota === undefined || (quota.states.length === 1 && tightest !== undefined && !shadowRefusals);
    const all = isComplete && !(stage === 'limit' && code !== undefined) ? '' : limitsPart(trail);
    if (tightest === undefined) return `${all}${decision}`;
    const { policy, remaining, limit } = tightest;
    return `${policyPart(policy)}${remaining},"limit_quota":${limit}${all}${decision}`;
  };
}

/** Each limit that counts the request; `wait_ms` is the time until more units are free. */
function limitsPart({ quota, charged }: Trail): string {
  const limits = (quota?.states ?? []).map(({ policy, limit, remaining, resetMs }, index) => {
    const { cost = 1, enforce = true } = charged?.[index] ?? {};
    const rest = `${cost === 1 ? '' : `,"cost":${cost}`}${enforce ? '' : ',"shadow":true'}`;
    return `{"policy":"${policy}","quota":${limit},"remaining":${remaining},"wait_ms":${resetMs}${rest}}`;
  });
  return limits.length === 0 ? '' : `,"limits":[${limits.join(',')}]`;
}

const targetPart = memoize((target: string) => flat(`,"target":"${target}","trace_id":"`));
const answerPart = memoize((status: number) => flat(`","upstream_status":${status},"upstream_ms":`));

function upstreamPart({ target, traceId, upstreamStatus, upstreamMs }: Trail): string {
  if (target === undefined) return traceId === undefined ? '' : `,"trace_id":"${traceId}"`;
  const traced = `${targetPart(target)}${traceId}`;
  if (upstreamMs === undefined || upstreamStatus === undefined) return `${traced}"`;
  return `${traced}${answerPart(upstreamStatus)}${milliseconds(upstreamMs)}`;
}
