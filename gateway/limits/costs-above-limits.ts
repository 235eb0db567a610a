// Finds operations whose cost exceeds a limit, so that waiting never helps their requests.

import type { Operation } from '../exchange/operation.ts';
import type { Mistake } from '../shared/mistakes.ts';
import { ANONYMOUS_TIER, extraOf, type LimitRule, type LimitRules } from './limit-rules.ts';

interface CostsAboveLimits {
  /** Mistakes for operations that no request passes. */
  readonly never: readonly Mistake[];
  /** Warnings for operations that some callers never pass. */
  readonly sometimes: readonly Mistake[];
}

/**
 * @param atCost returns a mistake at the place of the operation's cost
 */
export function costsAboveLimits<Entry extends { readonly operation: Operation }>(
  rules: LimitRules,
  operations: readonly Entry[],
  atCost: (entry: Entry, reason: string, remedy: string) => Mistake,
): CostsAboveLimits {
  const [never, sometimes]: [Mistake[], Mistake[]] = [[], []];
  for (const entry of operations) {
    const { operation } = entry;
    const cost = rules.operations[operation.id]?.cost ?? operation.cost;
    const isAbove = ([, { enforce, requests }]: readonly [string, LimitRule]) => enforce && cost > requests;
    const extra = extraOf(rules, operation) ?? '';
    const always = rules.extra[extra];
    const ofCallers = rulesOfCallers(rules, operation);
    const isNever = always !== undefined && isAbove([extra, always]);
    const above = isNever ? [[`extra.${extra}`, always] as const] : ofCallers.filter(isAbove);
    if (above.length === 0) continue;
    const shown = above.map(([name, { requests }]) => `${name} (${requests})`).join(', ');
    const isForAll = isNever || above.length === ofCallers.length;
    const whom = isForAll ? 'every request is' : 'their requests are';
    const reason = `a request of ${operation.id} costs ${cost}, more than the limit ${shown}, so ${whom} refused, however long a client waits.`;
    (isForAll ? never : sometimes).push(atCost(entry, reason, `Lower the cost, or set requests to ${cost} at least.`));
  }
  return { never, sometimes };
}

/** Returns the limits of callers, with their places in `limits.yaml`. Each request counts in one of them. */
function rulesOfCallers(
  { tiers, organizations }: LimitRules,
  { security }: Operation,
): (readonly [string, LimitRule])[] {
  const named = (block: string, rules: Readonly<Record<string, LimitRule>>) =>
    Object.entries(rules).map(([name, rule]) => [`${block}.${name}`, rule] as const);
  const [anonymous, others] = [`tiers.${ANONYMOUS_TIER}`, named('tiers', tiers)];
  if (security.length === 0) return others.filter(([name]) => name === anonymous);
  return [...others.filter(([name]) => name !== anonymous), ...named('organizations', organizations)];
}
