// Pure: which limits count an organization, under which rule of limits.yaml each, and in which counters.

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

/** An organization, and the ids of its keys that can be used. */
export interface LimitSubject {
  readonly organization: Organization;
  readonly keys: readonly string[];
}

/** One limit on one subject. */
export interface ApplicableLimit {
  readonly counter: string;
  readonly policy: string;
  /** Where the rule stands in `limits.yaml`. */
  readonly ruleName: string;
  readonly rule: LimitRule;
  /** Absent: the organization as a whole is counted. */
  readonly key: string | undefined;
  /** Ids of the operations it is about; absent: all. */
  readonly operations: readonly string[] | undefined;
}

/** First the limit of the tier, then the extra limits that operations are under, in the order of the rules. */
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

/** Every counter that these rules can make for an organization, also those that are made only if it is counted in another way. */
export function applicableCounters(rules: LimitRules, { organization: { id }, keys }: LimitSubject): string[] {
  const subjects = [undefined, ...keys];
  return [
    tierCounterOf(id, 'organization', undefined),
    ...keys.map((key) => tierCounterOf(id, 'key', key)),
    ...Object.keys(rules.extra).flatMap((extra) => subjects.map((key) => extraCounterOf(id, extra, key))),
  ];
}
