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
  readonly cost: number;
  readonly extra: string | undefined;
}

/** Public operations are counted per client address, under the tier of this name if there is one. */
const ANONYMOUS = 'anonymous';

/** Looks counters up by identity of caller and operation, so a request costs three map look-ups and no strings. */
export function createCounters(rules: LimitRules): (caller: Caller, operation: Operation, address: string) => Counters {
  const kindOf = createKinds(rules);
  const known = new WeakMap<Caller, Map<Kind, Counters>>();

  function countersOfOrganization(caller: Caller, organization: Organization, kind: Kind): Counters {
    const perKind = known.get(caller) ?? new Map<Kind, Counters>();
    let counters = perKind.get(kind);
    if (counters === undefined) {
      const rule = rules.organizations[organization.id] ?? rules.tiers[organization.tier] ?? strictestOf(rules.tiers);
      counters = resolve(rules, kind, rule, { tag: organization.id, key: keyOf(caller) });
      known.set(caller, perKind.set(kind, counters));
    }
    return counters;
  }

  return function countersOf(caller, operation, address) {
    const kind = kindOf(operation);
    const { organization } = caller;
    if (organization !== undefined) return countersOfOrganization(caller, organization, kind);
    // One caller stands for all anonymous clients, so there is nothing to keep per caller.
    return resolve(rules, kind, rules.tiers[ANONYMOUS], { tag: `address:${addressBlockOf(address)}`, key: undefined });
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
      const extra = own?.extra ?? operation.extraLimit;
      const name = `${cost} ${extra}`;
      kind = kinds.get(name) ?? { cost, extra };
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
    charges.push(chargeOf(rule, cost, policy, policy === 'key' ? `rl:{${tag}}:key:${key}` : `rl:{${tag}}:${policy}`));
  }
  if (extra !== undefined) {
    const further = rules.extra[extra];
    if (further === undefined) throw new Error(`limits: there is no extra limit "${extra}"`);
    const subject = further.per === 'key' && key !== undefined ? `:key:${key}` : '';
    charges.push(chargeOf(further, cost, extra, `rl:{${tag}}:extra:${extra}${subject}`));
  }
  return Object.freeze({ charges: Object.freeze(charges), policies: policiesOf(charges) });
}

function chargeOf({ requests, windowSeconds, enforce }: LimitRule, cost: number, policy: string, key: string): Charge {
  return Object.freeze({ key, policy, requests, windowSeconds, windowMs: windowSeconds * 1000, cost, enforce });
}

/** For an organization whose tier the rules do not know (any more): served, but never better than somebody else. */
function strictestOf(tiers: LimitRules['tiers']): LimitRule | undefined {
  const rateOf = ({ requests, windowSeconds }: LimitRule) => requests / windowSeconds;
  return Object.values(tiers).toSorted((one, other) => rateOf(one) - rateOf(other))[0];
}
