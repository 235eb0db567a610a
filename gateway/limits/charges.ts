// The charges of a request: which counters it is charged to, and with how many units. Pure; resolved once per caller, or address, and kind
// of operation.

import { LRUCache } from 'lru-cache';
import type { Caller } from '../exchange/caller.ts';
import { CallerNote } from '../exchange/caller-memory.ts';
import type { Operation } from '../exchange/operation.ts';
import { addressBlockOf } from '../shared/http/address-block.ts';
import type { Charge, ChargeMemory } from './counters/counter-store.ts';
import { type LimitTexts, limitTextsOf } from './limit-headers.ts';
import { ANONYMOUS_TIER, type CountPer, extraOf, type LimitRule, type LimitRules, ruleOf } from './limit-rules.ts';

/** What the stage needs of a caller. It is one object, because every additional object would cost a read from memory. */
export interface CallerCharges extends ChargeMemory {
  /** Empty: no limit counts the request. */
  readonly charges: readonly Charge[];
  /** One object for all callers under the same rules. */
  readonly texts: LimitTexts;
}

/** The settings of an operation that decide how it is counted. Most operations share one of a few kinds. */
interface OperationKind {
  /** Distinguishes it from every other one of this process. */
  readonly number: number;
  readonly cost: number;
  readonly extra: string | undefined;
  readonly known: WeakMap<Caller, CallerCharges>;
  /** The charges of callers without an organization, by block of addresses; undefined before the first of them. */
  byAddress: LRUCache<string, CallerCharges> | undefined;
  readonly sharedByOrganizations: SharedParts;
  readonly sharedByPersons: SharedParts;
  readonly sharedByAddresses: SharedParts;
}

/** The charges of a caller's last request, and the number of their kind: most callers use one kind. A kind itself would outlast its rules. */
const last = new CallerNote<{ readonly kind: number; readonly charges: CallerCharges }>();

let kindsMade = 0;

/** A refused address that is not among these costs a decision of the store for each request. Some 700 bytes each. */
const ADDRESSES_MAX = 2000;

/** What the charges of all callers under one rule have in common. */
type SharedParts = Map<LimitRule | undefined, Pick<CallerCharges, 'sharedCharges' | 'texts'>>;

/**
 * Finds the charges of a request by the objects of its caller and operation. That costs a request one map look-up and no string operation.
 * The objects of a caller have mostly left the processor's cache since its last request, so each object on the way to the charges costs
 * about 0.1 µs.
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
      known = resolve(rules, kind, rules.tiers[ANONYMOUS_TIER], owner);
      kind.byAddress.set(block, known);
    }
    return known;
  }

  return function chargesOf(caller, operation, address) {
    const kind = kindOf(operation);
    const { organization } = caller;
    // All anonymous clients share one caller object.
    if (organization === undefined) return chargesOfAddress(kind, addressBlockOf(address));
    const noted = last.of(caller);
    if (noted?.kind === kind.number) return noted.charges;
    let known = kind.known.get(caller);
    if (known === undefined) {
      const isPerson = caller.scheme === 'session';
      const owner = { tag: organization.id, key: keyOf(caller), isPerson };
      known = resolve(rules, kind, ruleOf(rules, organization)?.rule, owner);
      kind.known.set(caller, known);
    }
    last.set(caller, { kind: kind.number, charges: known });
    return known;
  };
}

/**
 * Returns the name under which the requests of one key are counted. A token subject gets its issuer as prefix, because it is unique only
 * within the issuer. No key id contains a slash.
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
  /** Absent for an anonymous client: its address is counted as a whole. */
  readonly key: string | undefined;
  /** Whether `key` is a person who has signed in; all devices of the person count together. */
  readonly isPerson: boolean;
}

function resolve(
  rules: LimitRules,
  kind: OperationKind,
  rule: LimitRule | undefined,
  { tag, key, isPerson }: CounterOwner,
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
  return { charges: Object.freeze(charges), sharedCharges, texts, encoded: '', refusal: undefined };
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
 * @param policy name of the limit, as clients see it
 * @param key name of the counter
 */
export function chargeOf(
  { requests, windowSeconds, enforce }: LimitRule,
  cost: number,
  policy: string,
  key: string,
): Charge {
  return Object.freeze({ key, policy, requests, windowSeconds, windowMs: windowSeconds * 1000, cost, enforce });
}
