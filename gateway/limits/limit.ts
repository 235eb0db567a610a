// Stage: charges a request to its counters, and adds the remaining units of its limits to the headers of the answer. Throws rate_limited,
// or gateway_overloaded if the counters cannot be reached and the outage policy is `refuse`.
//
// The calls from `limit` to Redis:
//
//   limit ─> chargesOf                   finds the counters and the units (limits/charges.ts)
//     ─> RedisStore.decide               finds the server (limits/counters/redis/redis-counter-store.ts). Without Redis, the store is
//                                        limits/counters/process-store.ts, which decides at once
//     ─> decideInBatch ─> Lane.send      joins the requests of one turn to one command (limits/counters/redis/batches.ts)
//     ─> RedisLink.run                   fails at once while the server is down (limits/counters/redis/link.ts)
//     ─> Calls.run                       fails at the deadline (limits/counters/redis/calls.ts)
//     ─> runDecisions                    sends the command (limits/counters/redis/window-script.ts), whose script decides
//                                        (limits/counters/redis/window.lua)
//   toLimitDecision ─> conclude          makes the decision from the reply (limits/counters/counter-store.ts); notes or throws it

import { GatewayError } from '../catalogue/errors.ts';
import { type Counted, extend, type Permitted } from '../exchange/exchange.ts';
import type { LimitState, LimitStates } from '../exchange/findings.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import type { CallerCharges } from './build-charges.ts';
import { createChargesOf } from './charges.ts';
import type { Charge, CounterStore, LimitDecision } from './counters/counter-store.ts';
import { appendLimitHeaders, retryAfterSecondsOf } from './limit-headers.ts';
import type { LimitRules } from './limit-rules.ts';

const UNCOUNTED: LimitStates = Object.freeze({ states: Object.freeze([]), tightest: undefined });

export interface LimitOptions {
  readonly store: Pick<CounterStore, 'decide'>;
  readonly rules: LimitRules;
  readonly now: () => number;
}

/** Builds the stage. It returns a promise only if the store does. */
export function createLimit({ store, rules, now }: LimitOptions): (permitted: Permitted) => Awaitable<Counted> {
  const chargesOf = createChargesOf(rules);

  return function limit(permitted) {
    const charged = chargesOf(permitted.caller, permitted.operation, permitted.clientAddress);
    if (charged.sharedCharges.length === 0) return withLimits(permitted, UNCOUNTED);
    const decision = store.decide(charged.charges, charged);
    if (!(decision instanceof Promise)) return conclude(permitted, charged, decision, now());
    return decision.then((decided) => conclude(permitted, charged, decided, now()));
  };
}

function conclude(permitted: Permitted, charged: CallerCharges, decision: LimitDecision, nowMs: number): Counted {
  const limits = noteLimits(permitted, charged, decision, nowMs);
  if (decision.outcome !== 'admitted') throw refusalOf(decision);
  return withLimits(permitted, limits);
}

function withLimits(permitted: Permitted, limits: LimitStates): Counted {
  const counted = extend<Permitted, Pick<Counted, 'limits'>>(permitted);
  counted.limits = limits;
  return counted;
}

/**
 * Notes the decision in the trail and in the headers of the answer. The function is separate from `conclude`, because V8 does not optimize
 * a function that always throws, and under an attack `conclude` throws for nearly all requests.
 */
function noteLimits(
  { trail, commonHeaders }: Permitted,
  { charges, sharedCharges, texts, tierInPlace }: CallerCharges,
  decision: LimitDecision,
  nowMs: number,
): LimitStates {
  const { states, shadowRefusals } = decision;
  const limits: LimitStates = { states, tightest: tightestOf(sharedCharges, decision) };
  trail.limits = limits;
  trail.charged = charges;
  trail.limitSource = decision.source;
  trail.limitDecidedAtMs = decision.decidedAtMs;
  if (tierInPlace !== undefined) trail.note('tierInPlace', tierInPlace);
  if (shadowRefusals.length > 0) trail.note('shadowRefusals', shadowRefusals);
  appendLimitHeaders(commonHeaders, texts, limits, nowMs);
  return limits;
}

function refusalOf({ outcome, waitMs, violated }: LimitDecision): GatewayError {
  if (outcome === 'undecided') return new GatewayError('gateway_overloaded');
  return new GatewayError('rate_limited', {
    retryAfterSeconds: retryAfterSecondsOf(waitMs),
    fields: { violated_policies: violated },
  });
}

/**
 * Returns the tightest of the enforced limits: the violated limit with the longest wait, or otherwise the limit with the smallest remaining
 * share.
 */
function tightestOf(charges: readonly Charge[], { states, violated }: LimitDecision): LimitState | undefined {
  let tightest: LimitState | undefined;
  let leastShare = Number.POSITIVE_INFINITY;
  for (let index = 0; index < states.length; index += 1) {
    const state = states[index] as LimitState;
    if (charges[index]?.enforce !== true) continue;
    const share = violated.includes(state.policy) ? -1 - state.resetMs : state.remaining / state.limit;
    if (share < leastShare) {
      tightest = state;
      leastShare = share;
    }
  }
  return tightest;
}
