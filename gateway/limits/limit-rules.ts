// The rules of `limits.yaml`, and functions that find the rule of an organization, an operation or a caller's streams.

import type { Caller, Organization } from '../exchange/caller.ts';
import type { Operation } from '../exchange/operation.ts';
import type { OutagePolicy } from './counters/counter-store.ts';
import type { LimitsFile } from './settings.ts';

export interface LimitRule {
  readonly requests: number;
  readonly windowSeconds: number;
  readonly enforce: boolean;
}

/** The rule of a tier, or the rule of an organization, which replaces the rule of its tier. settings.ts describes its members. */
type OrganizationRule = Readonly<LimitsFile['tiers'][string]>;

export type CountPer = 'organization' | 'key';

/** `limits.yaml`, checked and frozen. A reload replaces the whole object and builds a new stage, which uses the same store. */
export interface LimitRules {
  readonly countPer: CountPer;
  readonly whenStoreIsAway: OutagePolicy;
  readonly tiers: Readonly<Record<string, OrganizationRule>>;
  readonly extra: Readonly<Record<string, LimitRule & { readonly per: CountPer }>>;
  /** The extra limit and the cost of each operation, by its `operationId`. They override the contract. */
  readonly operations: Readonly<
    Record<string, { readonly extra?: string | undefined; readonly cost?: number | undefined }>
  >;
  /** The rule of each organization, by its id; it replaces the rule of its tier. */
  readonly organizations: Readonly<Record<string, OrganizationRule>>;
  /** The limit of each person who has signed in; undefined if there is none. */
  readonly persons?: LimitRule | undefined;
  readonly addresses: { readonly failures: number; readonly windowSeconds: number };
}

/** The tier of anonymous clients. Their requests of public operations are counted per address under this tier, if it exists. */
export const ANONYMOUS_TIER = 'anonymous';

/** Open streams of an organization whose tier sets no number. */
export const OPEN_STREAMS_MAX = 100;

/** Returns the extra limit of an operation. The rules override the contract. */
export function extraOf(rules: LimitRules, { id, extraLimit }: Operation): string | undefined {
  return rules.operations[id]?.extra ?? extraLimit;
}

/** A rule and its path in `limits.yaml`. */
interface NamedRule {
  readonly name: string;
  readonly rule: LimitRule;
}

/**
 * Returns the organization's own rule, or otherwise the rule of its tier. An organization whose tier is missing from the rules is still
 * served, but under the strictest rule.
 */
export function ruleOf(rules: LimitRules, { id, tier }: Organization): NamedRule | undefined {
  const own = rules.organizations[id];
  if (own !== undefined) return { name: `organizations.${id}`, rule: own };
  const ofTier = rules.tiers[tier];
  if (ofTier !== undefined) return { name: `tiers.${tier}`, rule: ofTier };
  const strictest = strictestTierOf(rules.tiers);
  return strictest && { name: `tiers.${strictest.name}`, rule: strictest.rule };
}

/** Whether the rules contain neither the organization nor its tier. The strictest tier then replaces its tier. */
export function lacksTier(
  { tiers, organizations }: Pick<LimitRules, 'tiers' | 'organizations'>,
  organization: string,
  tier: string,
): boolean {
  return !Object.hasOwn(tiers, tier) && !Object.hasOwn(organizations, organization);
}

/** Returns the strictest tier of organizations, which replaces a missing tier; undefined if there are no tiers. */
export function strictestTierOf<Rule extends LimitRule>(
  tiers: Readonly<Record<string, Rule>>,
): { readonly name: string; readonly rule: Rule } | undefined {
  const rateOf = ({ requests, windowSeconds }: LimitRule) => requests / windowSeconds;
  const ofOrganizations = Object.entries(tiers).filter(([name]) => name !== ANONYMOUS_TIER);
  const [strictest] = ofOrganizations.toSorted(([, one], [, other]) => rateOf(one) - rateOf(other));
  return strictest && { name: strictest[0], rule: strictest[1] };
}

/** Returns how many streams an organization may have open in one process. */
export function openStreamsMaxOf(
  { tiers, organizations }: Pick<LimitRules, 'tiers' | 'organizations'>,
  { organization }: Caller,
): number {
  const ownRule = organization && organizations[organization.id];
  return ownRule?.openStreams ?? tiers[organization?.tier ?? ANONYMOUS_TIER]?.openStreams ?? OPEN_STREAMS_MAX;
}
