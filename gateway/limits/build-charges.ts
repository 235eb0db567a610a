// Builds charges, and the names of the counters that they count in.

import type { Charge, ChargeMemory } from './counters/counter-store.ts';
import { type LimitTexts, limitTextsOf } from './limit-headers.ts';
import type { CountPer, LimitRule, LimitRules } from './limit-rules.ts';

/** The facts about a caller that the stage needs. They are in one object, because a second object would cost a second read from memory. */
export interface CallerCharges extends ChargeMemory {
  /** Empty if no limit counts the request. */
  readonly charges: readonly Charge[];
  /** The tier whose limits apply if `limits.yaml` does not contain the tier of the caller. */
  readonly tierInPlace: string | undefined;
  /** One object for all callers under the same rules. */
  readonly texts: LimitTexts;
}

/** The owner of the counters of a request. */
interface CounterOwner {
  readonly type: 'key' | 'person' | 'address';
  /** The hash tag of the counters. All counters of an organization have the same tag, because a Cluster then keeps them on one server. */
  readonly tag: string;
  /**
   * The id of the key. For a session, the id of the person, so that all devices of the person count together. Undefined for an address.
   */
  readonly id: string | undefined;
  readonly rule: LimitRule | undefined;
  readonly tierInPlace: string | undefined;
}

/** The parts that the charges of all callers under one rule share. */
type SharedParts = Map<LimitRule | undefined, Pick<CallerCharges, 'sharedCharges' | 'texts'>>;

/** The part of a kind of operation from which charges are built. */
export interface CountedKind {
  readonly cost: number;
  readonly extra: string | undefined;
  readonly shared: Readonly<Record<CounterOwner['type'], SharedParts>>;
}

/** Builds the charges of one owner of counters for one kind of operation, by the rule of its tier or its organization. */
export function buildCharges(
  rules: LimitRules,
  { cost, extra, shared }: CountedKind,
  { type, tag, id, rule, tierInPlace }: CounterOwner,
): CallerCharges {
  const charges: Charge[] = [];
  if (rule !== undefined) {
    const policy = type === 'address' ? type : rules.countPer;
    charges.push(chargeOf(rule, cost, policy, tierCounterOf(tag, policy, id)));
  }
  if (type === 'person' && rules.persons !== undefined)
    charges.push(chargeOf(rules.persons, cost, 'person', `rl:{${tag}}:person:${id}`));
  if (extra !== undefined) {
    const extraRule = rules.extra[extra];
    if (extraRule === undefined) throw new Error(`limits: there is no extra limit "${extra}"`);
    const counter = extraCounterOf(tag, extra, extraRule.per === 'key' ? id : undefined);
    charges.push(chargeOf(extraRule, cost, extra, counter));
  }
  const { sharedCharges, texts } = sharedPartsOf(shared[type], rule, charges);
  return { charges: Object.freeze(charges), tierInPlace, sharedCharges, texts, encoded: '', refusal: undefined };
}

function sharedPartsOf(known: SharedParts, rule: LimitRule | undefined, charges: readonly Charge[]) {
  let parts = known.get(rule);
  if (parts === undefined) {
    parts = { sharedCharges: charges, texts: limitTextsOf(charges) };
    known.set(rule, parts);
  }
  return parts;
}

/** Returns the name of the counter for the limit of a tier or an organization. */
export function tierCounterOf(tag: string, policy: CountPer | 'address', key: string | undefined): string {
  return `rl:{${tag}}:${policy === 'key' ? `key:${key}` : policy}`;
}

/** Returns the name of the counter for an extra limit, of the organization or of one key. */
export function extraCounterOf(tag: string, extra: string, key: string | undefined): string {
  return `rl:{${tag}}:extra:${extra}${key === undefined ? '' : `:key:${key}`}`;
}

/**
 * Builds a charge under a rule.
 *
 * @param cost units
 * @param policy the name of the limit, as clients see it
 * @param counter the name of the counter
 */
export function chargeOf(
  { requests, windowSeconds, enforce }: LimitRule,
  cost: number,
  policy: string,
  counter: string,
): Charge {
  return Object.freeze({ counter, policy, requests, windowSeconds, windowMs: windowSeconds * 1000, cost, enforce });
}
