// Pure: lists the limits that apply to an organization, with the rule of limits.yaml and the counter of each.

import type { Operation, Organization } from '../exchange.ts';
import {
  type CountPer,
  extraCounterOf,
  extraOf,
  type LimitRule,
  type LimitRules,
  ruleOf,
  tierCounterOf,
} from './counters.ts';

/** An organization, and the ids of its usable keys. */
export interface LimitSubject {
  readonly organization: Organization;
  readonly keys: readonly string[];
}

/** One limit on one subject. */
export interface ApplicableLimit {
  readonly counter: string;
  readonly policy: string;
  /** Path of the rule in `limits.yaml`. */
  readonly ruleName: string;
  readonly rule: LimitRule;
  /** Absent: the limit counts the organization as a whole. */
  readonly key: string | undefined;
  /** Ids of the operations that the limit counts; absent: all. */
  readonly operations: readonly string[] | undefined;
}

/** The limit of the tier first, then the extra limits of the operations, in the order of the rules. */
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

/**
 * Lists every counter that these rules can create for an organization, also those that exist only under another counting rule (per key, per
 * organization).
 */
export function applicableCounters(rules: LimitRules, { organization: { id }, keys }: LimitSubject): string[] {
  const subjects = [undefined, ...keys];
  return [
    tierCounterOf(id, 'organization', undefined),
    ...keys.map((key) => tierCounterOf(id, 'key', key)),
    ...Object.keys(rules.extra).flatMap((extra) => subjects.map((key) => extraCounterOf(id, extra, key))),
  ];
}
