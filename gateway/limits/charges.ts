// Finds the charges of a request: the counters that count it, and the units for each. build-charges.ts builds the charges of each caller
// and kind of operation once, or of each address and kind if the client is anonymous. This file caches them.

import { LRUCache } from 'lru-cache';
import type { Caller } from '../exchange/caller.ts';
import { CallerNote } from '../exchange/caller-memory.ts';
import type { Operation } from '../exchange/operation.ts';
import { addressBlockOf } from '../shared/http/address-block.ts';
import { tierInPlaceOf } from '../shared/missing-tier.ts';
import { buildCharges, type CallerCharges, type CountedKind } from './build-charges.ts';
import { ANONYMOUS_TIER, extraOf, type LimitRules, ruleOf } from './limit-rules.ts';

/** The settings of an operation that decide how it is counted. Most operations share one of a few kinds. */
interface OperationKind extends CountedKind {
  /** A number that no other kind in this process has. */
  readonly number: number;
  readonly known: WeakMap<Caller, CallerCharges>;
  /** The charges of anonymous clients, by block of addresses; undefined before the first such request. */
  byAddress: LRUCache<string, CallerCharges> | undefined;
}

/**
 * The charges of a caller's last request, because most callers use one kind of operation. The note contains the number of the kind, because
 * a reference to the kind would keep replaced rules in memory.
 */
const last = new CallerNote<{ readonly kindNumber: number; readonly charges: CallerCharges }>();

let kindsMade = 0;

/**
 * The largest number of addresses whose charges are cached, about 700 bytes each. Refusals are cached with the charges, so a refused
 * request of another address asks the store.
 */
const ADDRESSES_MAX = 2000;

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
      const rule = rules.tiers[ANONYMOUS_TIER];
      const tag = `address:${block}`;
      known = buildCharges(rules, kind, { type: 'address', tag, id: undefined, rule, tierInPlace: undefined });
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
    if (noted?.kindNumber === kind.number) return noted.charges;
    let known = kind.known.get(caller);
    if (known === undefined) {
      const type = caller.scheme === 'session' ? 'person' : 'key';
      const { name, rule } = ruleOf(rules, organization) ?? {};
      const tierInPlace = tierInPlaceOf(organization.tier, name);
      const owner = { type, tag: organization.id, id: idOf(caller), rule, tierInPlace } as const;
      known = buildCharges(rules, kind, owner);
      kind.known.set(caller, known);
    }
    last.set(caller, { kindNumber: kind.number, charges: known });
    return known;
  };
}

/**
 * Returns the id under which the requests of one key, or of one person, are counted. The subject of a token gets its issuer as a prefix,
 * because a subject is unique only within its issuer. The result cannot equal a key id, because no key id contains a slash.
 */
function idOf({ issuer, subject }: Caller): string {
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
    shared: { key: new Map(), person: new Map(), address: new Map() },
  };
}
