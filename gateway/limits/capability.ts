// The capability `limits`: error codes, and what the log and `gateway explain` say about decisions.

import { type Capability, type FactsOf, objectsIn, rarelyNoted, usualNote } from '../catalogue/capability.ts';
import { RATE_LIMITED } from '../catalogue/catalogue-entry.ts';
import type { ChargedUnits, LimitStates } from '../exchange/findings.ts';
import { missingTierText } from '../shared/missing-tier.ts';
import { durationText } from '../shared/text.ts';

const CODES = {
  rate_limited: {
    ...RATE_LIMITED,
    status: 429,
    message: 'The request limit is used up. Wait as long as Retry-After says.',
    meaning: 'The limit named in `violated_policies` is used up. Wait `retry_after` seconds.',
    remedy:
      'Wait `retry_after` seconds, as the header `Retry-After` says, then retry. Slow down when `RateLimit` shows that little is left. See [rate limits](/docs/guides/rate-limits).',
  },
  auth_attempts_limited: {
    ...RATE_LIMITED,
    status: 429,
    message: 'Too many failed requests came from this network address. Wait as long as Retry-After says.',
    meaning: 'Too many requests from this network address were refused. A key that was accepted before still passes.',
    remedy:
      'Stop sending what is refused, correct the key or the path, and wait `retry_after` seconds, as the header `Retry-After` says.',
  },
} as const;

const FIELDS = {
  retry_after: {
    section: 'refusal',
    stage: 'throttle',
    type: 'seconds',
    forClients: true,
    meaning: 'the `Retry-After` of the refusal',
  },
  limit: {
    section: 'limit',
    stage: 'limit',
    type: 'text',
    forClients: true,
    notes: { limits: usualNote<LimitStates | undefined>() },
    meaning: 'the tightest enforced limit',
  },
  limit_remaining: {
    section: 'limit',
    stage: 'limit',
    type: 'integer',
    forClients: true,
    meaning: 'what is left of it',
  },
  limit_quota: { section: 'limit', stage: 'limit', type: 'integer', forClients: true, meaning: 'its size' },
  limits: {
    section: 'limits',
    stage: 'limit',
    type: 'list of objects',
    forClients: true,
    // One per state of `limits`, in the same order.
    notes: { charged: usualNote<readonly ChargedUnits[] | undefined>() },
    meaning:
      'each limit that counted the request (`policy`: its name, `quota`, `remaining`, `wait_ms`, `cost`, `shadow`); absent if the three members above describe the only one',
  },
  limit_source: {
    section: 'decision',
    stage: 'limit',
    type: 'text',
    forClients: false,
    notes: { limitSource: usualNote<string | undefined>() },
    meaning:
      'where the decision came from: the store (such as `redis` or `process`), `known` (a refusal that still held), or the outage policy while Redis was away',
  },
  decided_at: {
    section: 'decision',
    stage: 'limit',
    type: 'epoch ms',
    forClients: false,
    notes: { limitDecidedAtMs: usualNote<number | undefined>() },
    meaning: 'the time of the decision by the clock of that store',
  },
  tier_in_place: {
    section: 'rare',
    stage: 'limit',
    type: 'text',
    forClients: false,
    notes: { tierInPlace: rarelyNoted<string>() },
    meaning: 'the strictest tier, if it limited the request because `limits.yaml` lacks the tier of its organization',
  },
  shadow_refused: {
    section: 'rare',
    stage: 'limit',
    type: 'list of texts',
    forClients: true,
    notes: { shadowRefusals: rarelyNoted<readonly string[]>() },
    meaning: 'shadow limits that would have refused the request',
  },
  violated_policies: {
    section: 'refusal',
    stage: 'limit',
    type: 'list of texts',
    forClients: true,
    meaning: 'the limits that refused the request',
  },
} as const;

const FACTS: FactsOf<typeof FIELDS> = {
  retry_after: {
    throttle: (after, _, outcome) =>
      outcome === 'refused' ? `the address has failed too often; it may come back after ${after} s` : undefined,
  },
  tier_in_place: { limit: (inPlace, { tier }) => missingTierText(String(tier), String(inPlace)) },
  limits: { limit: (limits, line) => eachLimit(objectsIn(limits), line) },
  shadow_refused: { toldBy: 'limits' },
  violated_policies: { toldBy: 'limits' },
  limit: { limit: (_, line) => tightestLimit(line) },
  limit_remaining: { toldBy: 'limit' },
  limit_quota: { toldBy: 'limit' },
  limit_source: { limit: (_, line) => decisionIn(line) },
  decided_at: { toldBy: 'limit_source' },
};

export const LIMITS = {
  codes: CODES,
  fields: FIELDS,
  facts: FACTS,
  withoutFacts: { limit: 'nothing counts this request' },
} as const satisfies Capability;

type Members = Readonly<Record<string, unknown>>;

const COUNTER_SOURCES: Readonly<Record<string, string>> = {
  redis: 'Redis',
  process: 'this process',
  unknown: 'no store',
  known: 'a refusal still in force (no store was asked)',
  local: 'this process, with its share, while Redis was away',
  allow: 'the setting to admit all requests while Redis was away',
  refuse: 'the setting to refuse all requests while Redis was away',
};

const numbers = new Intl.NumberFormat('en');
/** Returns a number with grouped thousands, because people read it. */
const groupThousands = (value: unknown) => (typeof value === 'number' ? numbers.format(value) : String(value));

/** Returns one line for each limit. */
function eachLimit(limits: readonly Members[], { rehearsed, violated_policies, shadow_refused }: Members): string[] {
  const isIn = (list: unknown, policy: unknown) => Array.isArray(list) && list.includes(policy);
  return limits.map(({ policy, quota, remaining, wait_ms: waitMs, cost = 1, shadow, any_key: anyKey }) => {
    if (anyKey === true)
      return `${policy}: ${groupThousands(quota)} for each key, counted per key: name one with --key`;
    const isRefused = isIn(violated_policies, policy);
    const left = `${groupThousands(remaining)} of ${groupThousands(quota)} left`;
    const kind = shadow === true ? ', a shadow limit' : '';
    const isAbove = Number(cost) > Number(quota);
    const wait = isAbove
      ? 'waiting does not help: the cost exceeds the limit'
      : `more in ${durationText(Number(waitMs))}`;
    if (rehearsed === true)
      return `${policy}: ${left}, this would take ${groupThousands(cost)}${isRefused || isAbove ? `; ${wait}` : ''}${kind}`;
    const outcome = isRefused ? 'refused' : isIn(shadow_refused, policy) ? 'would have refused' : 'admitted';
    return `${policy}: ${outcome} a cost of ${groupThousands(cost)}; ${left}${isAbove ? '; ' : ', '}${wait}${kind}`;
  });
}

/** Returns the tightest limit, if the line does not list all limits. */
function tightestLimit({ limits, limit, limit_remaining, limit_quota, rehearsed }: Members): string | undefined {
  const isListed = rehearsed === true || (Array.isArray(limits) && limits.length > 0);
  return isListed
    ? undefined
    : `${limit}: admitted; ${groupThousands(limit_remaining)} of ${groupThousands(limit_quota)} left`;
}

/** Returns which store decided, and when. */
function decisionIn({ limit_source: source, decided_at: decidedAt, rehearsed }: Members): string {
  const decider = COUNTER_SOURCES[String(source)] ?? `the store ${source}`;
  if (rehearsed === true) return `as ${decider} has counted`;
  return `decided by ${decider} at ${typeof decidedAt === 'number' ? new Date(decidedAt).toISOString() : ''}`;
}
