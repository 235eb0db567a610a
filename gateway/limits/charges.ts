// Finds the charges of a request: the counters that count it, and the units for each. The charges are computed once for each caller and
// kind of operation, or for each address and kind if the client is anonymous, and then cached.

import { LRUCache } from 'lru-cache';
import type { Caller } from '../exchange/caller.ts';
import { CallerNote } from '../exchange/caller-memory.ts';
import type { Operation } from '../exchange/operation.ts';
import { addressBlockOf } from '../shared/http/address-block.ts';
import { tierInPlaceOf } from '../shared/missing-tier.ts';
import type { Charge, ChargeMemory } from './counters/counter-store.ts';
import { type LimitTexts, limitTextsOf } from './limit-headers.ts';
import { ANONYMOUS_TIER, type CountPer, extraOf, type LimitRule, type LimitRules, ruleOf } from './limit-rules.ts';

/** The facts about a caller that the stage needs. They are in one object, because a second object would cost a second read from memory. */
export interface CallerCharges extends ChargeMemory {
  /** Empty if no limit counts the request. */
  readonly charges: readonly Charge[];
  /** The tier that replaces the caller's tier, if `limits.yaml` does not contain that one. */
  readonly tierInPlace: string | undefined;
  /** One object for all callers under the same rules. */
  readonly texts: LimitTexts;
}

/** The settings of an operation that decide how it is counted. Most operations share one of a few kinds. */
interface OperationKind {
  /** A number that no other kind in this process has. */
  readonly number: number;
  readonly cost: number;
  readonly extra: string | undefined;
  readonly known: WeakMap<Caller, CallerCharges>;
  /** The charges of anonymous clients, by block of addresses; undefined before the first such request. */
  byAddress: LRUCache<string, CallerCharges> | undefined;
  readonly sharedByOrganizations: SharedParts;
  readonly sharedByPersons: SharedParts;
  readonly sharedByAddresses: SharedParts;
}

/**
 * The charges of a caller's last request, because most callers use one kind of operation. The note contains the number of the kind, because
 * a reference to the kind would keep replaced rules in memory.
 */
const last = new CallerNote<{ readonly kind: number; readonly charges: CallerCharges }>();

let kindsMade = 0;

/**
 * The largest number of addresses whose charges are cached, about 700 bytes each. For any other address no refusal is cached, so each of
 * its requests asks the store.
 */
const ADDRESSES_MAX = 2000;

/** The parts that the charges of all callers under one rule share. */
type SharedParts = Map<LimitRule | undefined, Pick<CallerCharges, 'sharedCharges' | 'texts'>>;

/**
 * Returns a function that finds the charges of a request. It finds them by the identity of the caller and operation objects, with one map
 * look-up and without building a key. It reads as few objects of the caller as possible, because most have left the processor's cache since
 * the caller's last request, and each costs about 0.1 µs.
 */
export function createChargesOf(
  rules: LimitRules,
): (caller: Caller, operation: Operation, address: string) => CallerCharges {
  const kindOf = createKinds(rules);

  function chargesOfAddress(kind: OperationKind, block: string): CallerCharges {
    kind.byAddress ??= new LRUCache({ max: ADDRESSES_MAX });
    let known = kind.byAddress.get(block);
    if (known === undefined) {
      const owner = { tag: `address:${block}`, key: undefined, isPerson: false };
      known = resolve(rules, kind, rules.tiers[ANONYMOUS_TIER], owner, undefined);
      kind.byAddress.set(block, known);
    }
    return known;
  }

  return function chargesOf(caller, operation, address) {
    const kind = kindOf(operation);
    const { organization } = caller;
    // All anonymous clients share one caller object, so their charges are found by their address.
    if (organization === undefined) return chargesOfAddress(kind, addressBlockOf(address));
    const noted = last.get(caller);
    if (noted?.kind === kind.number) return noted.charges;
    let known = kind.known.get(caller);
    if (known === undefined) {
      const isPerson = caller.scheme === 'session';
      const owner = { tag: organization.id, key: keyOf(caller), isPerson };
      const { name, rule } = ruleOf(rules, organization) ?? {};
      known = resolve(rules, kind, rule, owner, tierInPlaceOf(organization.tier, name));
      kind.known.set(caller, known);
    }
    last.set(caller, { kind: kind.number, charges: known });
    return known;
  };
}

/**
 * Returns the name under which the requests of one key are counted. The subject of a token gets its issuer as a prefix, because a subject
 * is unique only within its issuer. The result cannot equal a key id, because no key id contains a slash.
 */
function keyOf({ issuer, subject }: Caller): string {
  return issuer === undefined ? subject : `${issuer}/${subject}`;
}

function createKinds(rules: LimitRules): (operation: Operation) => OperationKind {
  const kinds = new Map<string, OperationKind>();
  const known = new WeakMap<Operation, OperationKind>();
  return function kindOf(operation) {
    let kind = known.get(operation);
    if (kind === undefined) {
      const own = rules.operations[operation.id];
      const cost = own?.cost ?? operation.cost;
      const extra = extraOf(rules, operation);
      const name = `${cost} ${extra}`;
      kind = kinds.get(name) ?? createKind(cost, extra);
      kinds.set(name, kind);
      known.set(operation, kind);
    }
    return kind;
  };
}

function createKind(cost: number, extra: string | undefined): OperationKind {
  kindsMade += 1;
  return {
    number: kindsMade,
    cost,
    extra,
    known: new WeakMap(),
    byAddress: undefined,
    sharedByOrganizations: new Map(),
    sharedByPersons: new Map(),
    sharedByAddresses: new Map(),
  };
}

/** The owner of the counters. In Redis, all counters of an organization share a hash tag, so that a Cluster keeps them on one server. */
interface CounterOwner {
  readonly tag: string;
  /** The key; undefined for an anonymous client, because its address is counted as a whole. */
  readonly key: string | undefined;
  /** Whether `key` is a person who has signed in; all devices of the person count together. */
  readonly isPerson: boolean;
}

function resolve(
  rules: LimitRules,
  kind: OperationKind,
  rule: LimitRule | undefined,
  { tag, key, isPerson }: CounterOwner,
  tierInPlace: string | undefined,
): CallerCharges {
  const { cost, extra } = kind;
  const charges: Charge[] = [];
  if (rule !== undefined) {
    const policy = key === undefined ? 'address' : rules.countPer;
    charges.push(chargeOf(rule, cost, policy, tierCounterOf(tag, policy, key)));
  }
  if (isPerson && rules.persons !== undefined)
    charges.push(chargeOf(rules.persons, cost, 'person', `rl:{${tag}}:person:${key}`));
  if (extra !== undefined) {
    const extraRule = rules.extra[extra];
    if (extraRule === undefined) throw new Error(`limits: there is no extra limit "${extra}"`);
    const counter = extraCounterOf(tag, extra, extraRule.per === 'key' ? key : undefined);
    charges.push(chargeOf(extraRule, cost, extra, counter));
  }
  const { sharedCharges, texts } = sharedPartsOf(
    key === undefined ? kind.sharedByAddresses : isPerson ? kind.sharedByPersons : kind.sharedByOrganizations,
    rule,
    charges,
  );
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
 * @param key the name of the counter
 */
export function chargeOf(
  { requests, windowSeconds, enforce }: LimitRule,
  cost: number,
  policy: string,
  key: string,
): Charge {
  return Object.freeze({ key, policy, requests, windowSeconds, windowMs: windowSeconds * 1000, cost, enforce });
}
