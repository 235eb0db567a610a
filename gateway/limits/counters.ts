// Pure: operation + caller + rules → the counters a request is charged to. Resolved once per caller and kind of operation.

import type { Caller, Operation, Organization } from '../exchange.ts';
import { addressBlockOf } from './address.ts';
import { policiesOf } from './headers.ts';
import type { AwayPolicy, Charge } from './store.ts';

export interface LimitRule {
  readonly requests: number;
  readonly windowSeconds: number;
  readonly enforce: boolean;
}

export type CountPer = 'organization' | 'key';

/** `limits.yaml`, checked and frozen. Rules are replaced as a whole, by building the stage anew on the same store. */
export interface LimitRules {
  readonly countPer: CountPer;
  readonly whenStoreIsAway: AwayPolicy;
  readonly tiers: Readonly<Record<string, LimitRule>>;
  readonly extra: Readonly<Record<string, LimitRule & { readonly per: CountPer }>>;
  /** By operationId; what is said here wins over the contract. */
  readonly operations: Readonly<
    Record<string, { readonly extra?: string | undefined; readonly cost?: number | undefined }>
  >;
  /** By organization id, instead of its tier's rule. */
  readonly organizations: Readonly<Record<string, LimitRule>>;
  readonly addresses: { readonly failures: number; readonly windowSeconds: number };
}

export interface Counters {
  /** Empty: nothing counts. */
  readonly charges: readonly Charge[];
  /** RateLimit-Policy for these charges. */
  readonly policies: string;
}

/** What operations that are counted alike have in common: few kinds serve all operations. */
interface Kind {
  /** Counted from 0. */
  readonly number: number;
  readonly cost: number;
  readonly extra: string | undefined;
}

/** Public operations are counted per client address, under the tier of this name if there is one. */
export const ANONYMOUS_TIER = 'anonymous';

/**
 * Looks counters up by identity of caller and operation, so a request costs two map look-ups and no strings. What belongs to a caller
 * has most often left the processor's cache since its last request: each object on the way to its counters costs about 0.1 µs.
 */
export function createCounters(rules: LimitRules): (caller: Caller, operation: Operation, address: string) => Counters {
  const kindOf = createKinds(rules);
  /** Per caller, by the number of the kind. */
  const known = new WeakMap<Caller, (Counters | undefined)[]>();

  function countersOfOrganization(caller: Caller, organization: Organization, kind: Kind): Counters {
    const perKind = known.get(caller) ?? [];
    let counters = perKind[kind.number];
    if (counters === undefined) {
      counters = resolve(rules, kind, ruleOf(rules, organization)?.rule, { tag: organization.id, key: keyOf(caller) });
      perKind[kind.number] = counters;
      known.set(caller, perKind);
    }
    return counters;
  }

  return function countersOf(caller, operation, address) {
    const kind = kindOf(operation);
    const { organization } = caller;
    if (organization !== undefined) return countersOfOrganization(caller, organization, kind);
    // One caller stands for all anonymous clients, so there is nothing to keep per caller.
    return resolve(rules, kind, rules.tiers[ANONYMOUS_TIER], {
      tag: `address:${addressBlockOf(address)}`,
      key: undefined,
    });
  };
}

/** What of an organization is counted as one key. Subjects are an issuer's own, and no id of a key has a slash. */
function keyOf({ issuer, subject }: Caller): string {
  return issuer === undefined ? subject : `${issuer}/${subject}`;
}

function createKinds(rules: LimitRules): (operation: Operation) => Kind {
  const kinds = new Map<string, Kind>();
  const known = new WeakMap<Operation, Kind>();
  return function kindOf(operation) {
    let kind = known.get(operation);
    if (kind === undefined) {
      const own = rules.operations[operation.id];
      const cost = own?.cost ?? operation.cost;
      const extra = extraOf(rules, operation);
      const name = `${cost} ${extra}`;
      kind = kinds.get(name) ?? { number: kinds.size, cost, extra };
      kinds.set(name, kind);
      known.set(operation, kind);
    }
    return kind;
  };
}

/** Whose counters they are. In Redis all of an organization's share a hash tag, so that a cluster keeps them on one node. */
interface Subject {
  readonly tag: string;
  /** Absent: an anonymous client, who is counted as a whole. */
  readonly key: string | undefined;
}

function resolve(
  rules: LimitRules,
  { cost, extra }: Kind,
  rule: LimitRule | undefined,
  { tag, key }: Subject,
): Counters {
  const charges: Charge[] = [];
  if (rule !== undefined) {
    const policy = key === undefined ? 'address' : rules.countPer;
    charges.push(chargeOf(rule, cost, policy, tierCounterOf(tag, policy, key)));
  }
  if (extra !== undefined) {
    const further = rules.extra[extra];
    if (further === undefined) throw new Error(`limits: there is no extra limit "${extra}"`);
    const counter = extraCounterOf(tag, extra, further.per === 'key' ? key : undefined);
    charges.push(chargeOf(further, cost, extra, counter));
  }
  return Object.freeze({ charges: Object.freeze(charges), policies: policiesOf(charges) });
}

/** The counter of the limit that a tier or an organization has. */
export function tierCounterOf(tag: string, policy: CountPer | 'address', key: string | undefined): string {
  return `rl:{${tag}}:${policy === 'key' ? `key:${key}` : policy}`;
}

/** The counter of an extra limit, as a whole or of one key. */
export function extraCounterOf(tag: string, extra: string, key: string | undefined): string {
  return `rl:{${tag}}:extra:${extra}${key === undefined ? '' : `:key:${key}`}`;
}

export function chargeOf(
  { requests, windowSeconds, enforce }: LimitRule,
  cost: number,
  policy: string,
  key: string,
): Charge {
  return Object.freeze({ key, policy, requests, windowSeconds, windowMs: windowSeconds * 1000, cost, enforce });
}

/** The extra limit that an operation is under: what the rules say of it wins over its contract. */
export function extraOf(rules: LimitRules, { id, extraLimit }: Operation): string | undefined {
  return rules.operations[id]?.extra ?? extraLimit;
}

/** A rule and where it stands in `limits.yaml`. */
export interface NamedRule {
  readonly name: string;
  readonly rule: LimitRule;
}

/**
 * The rule of an organization: its own, else that of its tier. One whose tier the rules do not know (any more) is served, but never
 * better than somebody else.
 */
export function ruleOf(rules: LimitRules, { id, tier }: Organization): NamedRule | undefined {
  const own = rules.organizations[id];
  if (own !== undefined) return { name: `organizations.${id}`, rule: own };
  const ofTier = rules.tiers[tier];
  if (ofTier !== undefined) return { name: `tiers.${tier}`, rule: ofTier };
  const rateOf = ({ requests, windowSeconds }: LimitRule) => requests / windowSeconds;
  const ofOrganizations = Object.entries(rules.tiers).filter(([name]) => name !== ANONYMOUS_TIER);
  const [strictest] = ofOrganizations.toSorted(([, one], [, other]) => rateOf(one) - rateOf(other));
  return strictest && { name: `tiers.${strictest[0]}`, rule: strictest[1] };
}
