// What an organization has used of its limits, looked at without spending anything; and how to have it forgotten.

import type { Awaitable, Operation, Organization } from '../exchange.ts';
import { type ApplicableLimit, applicableCounters, applicableLimits, type LimitSubject } from './applicable-limits.ts';
import { chargeOf, type LimitRules } from './counters.ts';
import type { CounterStore } from './store.ts';

/** More than any limit: what a counter has left of it tells all that was spent, even if the limit was lowered meanwhile. */
const BEYOND = 1_000_000_000;

/** One limit as it stands, as commands print it and the admin listener answers it. */
export interface LimitUse {
  readonly policy: string;
  /** Where the rule stands in `limits.yaml`. */
  readonly rule: string;
  /** Null: the organization as a whole is counted. */
  readonly key_id: string | null;
  /** Null: it is about all operations. */
  readonly operations: readonly string[] | null;
  /** False: a shadow limit. */
  readonly enforced: boolean;
  readonly limit: number;
  readonly window_seconds: number;
  readonly used: number;
  readonly remaining: number;
  /** When the oldest units that count leave the window; null if nothing is used. */
  readonly next_freed_at: string | null;
  /** Who counted: `redis`, `process`, or `local` while Redis is away. */
  readonly source: string;
}

export interface UsageReport {
  readonly organization: string;
  readonly tier: string;
  readonly limits: readonly LimitUse[];
}

export interface ResetReport {
  readonly organization: string;
  /** How many counters the rules can make for it; most of them hold nothing. */
  readonly counters: number;
}

/** Both answer undefined if there is no such organization, and reject while counters or keys cannot be read. */
export interface LimitUsage {
  show(organization: string): Promise<UsageReport | undefined>;
  /** Forgets everything that was spent, and notes in the audit log who wanted that. */
  reset(organization: string, by: string): Promise<ResetReport | undefined>;
}

export interface UsageOptions {
  readonly store: Pick<CounterStore, 'decide' | 'reset'>;
  readonly rules: () => LimitRules;
  readonly operations: () => readonly Operation[];
  readonly organizationOf: (id: string) => Awaitable<Organization | undefined>;
  /** Ids of its keys that can be used. */
  readonly keysOf: (organization: string) => Awaitable<readonly string[]>;
  readonly noteReset: (organization: string, by: string) => Awaitable<void>;
}

/** Callers with tokens that are counted one by one are not known by name: they are neither shown nor forgotten. */
export function createLimitUsage({ store, rules, operations, ...options }: UsageOptions): LimitUsage {
  async function find(id: string): Promise<LimitSubject | undefined> {
    const organization = await options.organizationOf(id);
    return organization && { organization, keys: await options.keysOf(id) };
  }

  return {
    async show(id) {
      const counted = await find(id);
      if (counted === undefined) return undefined;
      // Asked in one turn, so that a store which gathers questions can.
      const limits = await Promise.all(
        applicableLimits(rules(), operations(), counted).map((limit) => look(store, limit)),
      );
      return { organization: id, tier: counted.organization.tier, limits };
    },
    async reset(id, by) {
      const counted = await find(id);
      if (counted === undefined) return undefined;
      const counters = applicableCounters(rules(), counted);
      // The counters first: gateways that learn of it must find them gone.
      await store.reset(counters);
      await options.noteReset(id, by);
      return { organization: id, counters: counters.length };
    },
  };
}

/** A cost of nothing spends nothing, and a decision on it tells what there is. */
async function look(store: Pick<CounterStore, 'decide'>, limit: ApplicableLimit): Promise<LimitUse> {
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
