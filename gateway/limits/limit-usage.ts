// Shows what an organization has used of its limits, without charging it, and resets its counters.

import type { Organization } from '../exchange/caller.ts';
import type { Operation } from '../exchange/operation.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { chargeOf, extraCounterOf, tierCounterOf } from './build-charges.ts';
import type { CounterStore } from './counters/counter-store.ts';
import { type CountPer, extraOf, type LimitRule, type LimitRules, ruleOf } from './limit-rules.ts';

/**
 * The limit with which counters are read. This limit is above every real limit, so the remaining units show everything that was spent, even
 * if the real limit was lowered since.
 */
const BEYOND = 1_000_000_000;

/** State of one limit, as commands print it and the admin listener returns it. */
export interface LimitUse {
  readonly policy: string;
  /** Path of the rule in `limits.yaml`. */
  readonly rule: string;
  /** File and line of the rule; null if no file has it. */
  readonly rule_at: string | null;
  /** The key that the limit counts; null if it counts the organization as a whole. */
  readonly key_id: string | null;
  /** Ids of the operations that the limit counts; null if it counts all. */
  readonly operations: readonly string[] | null;
  /** Whether the limit refuses; a shadow limit only counts. */
  readonly enforced: boolean;
  readonly limit: number;
  readonly window_seconds: number;
  readonly used: number;
  readonly remaining: number;
  /** When the oldest counted units leave the window; null if nothing is used. */
  readonly next_freed_at: string | null;
  /** The deciding store: `redis`, `process`, or `local` while Redis cannot be reached. */
  readonly source: string;
}

export interface LimitUsageReport {
  readonly organization: string;
  readonly tier: string;
  readonly limits: readonly LimitUse[];
}

export interface ResetReport {
  readonly organization: string;
  /** The number of counters that the rules can create for the organization. Most of these counters are empty. */
  readonly counters: number;
}

/** Both methods return undefined for an unknown organization, and reject while counters or keys cannot be read. */
export interface LimitUsage {
  show(organization: string): Promise<LimitUsageReport | undefined>;
  /**
   * Deletes the counters of the organization and of its keys.
   *
   * @param dryRun only counts them
   */
  reset(organization: string, dryRun?: boolean): Promise<ResetReport | undefined>;
}

interface UsageOptions {
  readonly store: Pick<CounterStore, 'decide' | 'reset'>;
  readonly rules: () => LimitRules;
  readonly operations: () => readonly Operation[];
  readonly organizationOf: (id: string) => Awaitable<Organization | undefined>;
  /** Returns the ids of the usable keys of an organization. */
  readonly keysOf: (organization: string) => Awaitable<readonly string[]>;
  /** Returns the file and the line of a rule, such as `tiers.standard`; undefined if no file has it. */
  readonly placeOf: (rule: string) => string | undefined;
}

/**
 * Creates the functions. The counters of subjects of tokens, and of people with sessions, are neither shown nor reset, because the gateway
 * does not store subjects and cannot list them.
 */
export function createLimitUsage({ store, rules, operations, ...options }: UsageOptions): LimitUsage {
  async function find(id: string): Promise<LimitSubject | undefined> {
    const organization = await options.organizationOf(id);
    return organization && { organization, keys: await options.keysOf(id) };
  }

  return {
    async show(id) {
      const subject = await find(id);
      if (subject === undefined) return undefined;
      // All reads start in one turn, because the store then sends them in one command.
      const limits = await Promise.all(
        applicableLimits(rules(), operations(), subject).map(async (limit) => ({
          ...(await readLimit(store, limit)),
          rule_at: options.placeOf(limit.ruleName) ?? null,
        })),
      );
      return { organization: id, tier: subject.organization.tier, limits };
    },
    async reset(id, dryRun = false) {
      const subject = await find(id);
      if (subject === undefined) return undefined;
      const counters = applicableCounters(rules(), subject);
      if (!dryRun) await store.reset(counters);
      return { organization: id, counters: counters.length };
    },
  };
}

/** Reads a counter through a decision with a cost of 0, which spends nothing. */
async function readLimit(
  store: Pick<CounterStore, 'decide'>,
  limit: ApplicableLimit,
): Promise<Omit<LimitUse, 'rule_at'>> {
  const { rule, policy, ruleName, counter, key, operations } = limit;
  const charge = chargeOf({ ...rule, requests: BEYOND, enforce: false }, 0, policy, counter);
  const { states, decidedAtMs, source } = await store.decide([charge]);
  const state = states[0];
  if (state === undefined) throw new Error('the counters are away');
  const used = state.limit - state.remaining;
  return {
    policy,
    rule: ruleName,
    key_id: key ?? null,
    operations: operations ?? null,
    enforced: rule.enforce,
    limit: rule.requests,
    window_seconds: rule.windowSeconds,
    used,
    remaining: Math.max(0, rule.requests - used),
    next_freed_at: used === 0 ? null : new Date(decidedAtMs + state.resetMs).toISOString(),
    source,
  };
}

/** An organization, and the ids of its usable keys. */
interface LimitSubject {
  readonly organization: Organization;
  readonly keys: readonly string[];
}

/** One limit on one subject. */
interface ApplicableLimit {
  readonly counter: string;
  readonly policy: string;
  /** Path of the rule in `limits.yaml`. */
  readonly ruleName: string;
  readonly rule: LimitRule;
  /** The key that the limit counts; undefined if it counts the organization as a whole. */
  readonly key: string | undefined;
  /** Ids of the operations that the limit counts; absent for all. */
  readonly operations: readonly string[] | undefined;
}

/**
 * Lists the limits that apply to an organization: the limit of its tier first, then the extra limits of the operations, in the order of the
 * rules.
 */
export function applicableLimits(
  rules: LimitRules,
  operations: readonly Operation[],
  { organization, keys }: LimitSubject,
): ApplicableLimit[] {
  const subjectsOf = (per: CountPer) => (per === 'key' ? keys : [undefined]);
  const found: ApplicableLimit[] = [];
  const main = ruleOf(rules, organization);
  if (main !== undefined) {
    const limit = { policy: rules.countPer, ruleName: main.name, rule: main.rule, operations: undefined };
    for (const key of subjectsOf(rules.countPer)) {
      found.push({ ...limit, counter: tierCounterOf(organization.id, rules.countPer, key), key });
    }
  }
  for (const [policy, rule] of Object.entries(rules.extra)) {
    const under = operations.filter((operation) => extraOf(rules, operation) === policy).map(({ id }) => id);
    for (const key of under.length === 0 ? [] : subjectsOf(rule.per)) {
      const counter = extraCounterOf(organization.id, policy, key);
      found.push({ counter, policy, ruleName: `extra.${policy}`, rule, key, operations: under });
    }
  }
  return found;
}

/** Lists every counter that these rules can create for an organization and its keys, including the counters of the other `countPer`. */
export function applicableCounters(rules: LimitRules, { organization: { id }, keys }: LimitSubject): string[] {
  const subjects = [undefined, ...keys];
  return [
    tierCounterOf(id, 'organization', undefined),
    ...keys.map((key) => tierCounterOf(id, 'key', key)),
    ...Object.keys(rules.extra).flatMap((extra) => subjects.map((key) => extraCounterOf(id, extra, key))),
  ];
}
