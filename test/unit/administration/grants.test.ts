// What a key may grant, against what it may do itself: address lists are compared with the check of requests, scopes with that of
// operations.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Grants } from '../../../gateway/administration/actor.ts';
import { type GrantedRights, requireHeld, scopeMistakeOf } from '../../../gateway/administration/grants.ts';
import { allowanceOf, isRangeWithin } from '../../../gateway/auth/address-ranges.ts';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { createScopeRules } from '../../../gateway/shared/contracts/scopes.ts';

const rules = createScopeRules(['mail:read'], true);
const everything: Grants = { scopes: new Set(['*']), allowedCidrs: [], expiresAtMs: Number.POSITIVE_INFINITY };
const nothing: GrantedRights = { scopes: [], allowedCidrs: [], expiresAtMs: undefined };

function paramOf(may: Partial<Grants>, granted: Partial<GrantedRights>): unknown {
  try {
    requireHeld({ ...everything, ...may }, { ...nothing, ...granted }, rules);
    return undefined;
  } catch (thrown) {
    assert.ok(thrown instanceof GatewayError && thrown.code === 'grant_not_held');
    return thrown.details.fields?.param;
  }
}

/** Few values, so that ranges meet. */
const v4 = fc
  .tuple(fc.constantFrom(0, 10, 127, 255), fc.constantFrom(0, 1, 255), fc.constantFrom(0, 128), fc.nat(255))
  .map((bytes) => bytes.join('.'));
const v6 = fc
  .tuple(fc.constantFrom('2001:db8', '::', '::ffff', 'fe80', '0:0:0:0:0:ffff'), fc.nat(0xffff), fc.nat(0xffff))
  .map(([head, a, b]) => {
    if (head.startsWith('0:')) return `${head}:${a.toString(16)}:${b.toString(16)}`;
    return head === '::' ? `::${a.toString(16)}:${b.toString(16)}` : `${head}::${a.toString(16)}:${b.toString(16)}`;
  });
const mapped = v4.map((address) => `::ffff:${address}`);
const address = fc.oneof(v4, v6, mapped).filter((text) => allowanceOf([text])?.(text) === true);
const range = address.chain((text) => {
  const bits = text.includes(':')
    ? [0, 1, 32, 64, 80, 95, 96, 97, 104, 112, 120, 127, 128]
    : [0, 1, 8, 9, 16, 24, 31, 32];
  return fc.oneof(
    fc.constant(text),
    fc.constantFrom(...bits).map((count) => `${text}/${count}`),
  );
});

it('a range is within another one exactly if requests from all of its addresses are let in by that', () => {
  fc.assert(
    fc.property(range, range, fc.array(address, { minLength: 20, maxLength: 20 }), (inner, outer, addresses) => {
      const [isInside, isAround] = [allowanceOf([inner]), allowanceOf([outer])];
      const escapes = addresses.some((one) => isInside?.(one) === true && isAround?.(one) === false);
      if (isRangeWithin(inner, outer)) assert.equal(escapes, false, `${inner} in ${outer}`);
      // Ranges are nested or apart, so that an address of the outer one, or all of it, decides.
      const [base = ''] = inner.split('/');
      if (isAround?.(base) === false) assert.equal(isRangeWithin(inner, outer), false, `${inner} in ${outer}`);
    }),
    { numRuns: 2000 },
  );
});

it('every range is within itself, and a chain of ranges is one', () => {
  fc.assert(
    fc.property(range, range, range, (a, b, c) => {
      assert.ok(isRangeWithin(a, a));
      if (isRangeWithin(a, b) && isRangeWithin(b, c)) assert.ok(isRangeWithin(a, c));
    }),
  );
});

for (const [inner, outer, expected] of [
  ['192.0.2.1', '192.0.2.0/24', true],
  ['192.0.2.0/24', '192.0.2.1', false],
  ['192.0.2.0/24', '192.0.2.255/24', true],
  ['::ffff:192.0.2.1', '192.0.2.1', true],
  ['192.0.2.1', '::ffff:c000:201', true],
  ['0.0.0.0/0', '::ffff:0:0/96', true],
  ['::ffff:0:0/96', '0.0.0.0/0', true],
  ['0.0.0.0/0', '::/0', true],
  ['::/0', '0.0.0.0/0', false],
  ['::ffff:0:0/95', '0.0.0.0/0', false],
  ['::1', '0.0.0.0/0', false],
  ['2001:DB8::1', '2001:db8:0::/48', true],
  ['no range', '0.0.0.0/0', false],
  ['192.0.2.1', 'no range', false],
  ['', '', false],
] as const) {
  it(`${inner || 'nothing'} is ${expected ? '' : 'not '}within ${outer || 'nothing'}`, () => {
    assert.equal(isRangeWithin(inner, outer), expected);
  });
}

it('no grant lets in an address that the acting key does not let in', () => {
  const list = fc.array(range, { maxLength: 3 });
  fc.assert(
    fc.property(list, list, fc.array(address, { minLength: 20, maxLength: 20 }), (own, granted, addresses) => {
      if (paramOf({ allowedCidrs: own }, { allowedCidrs: granted }) !== undefined) return;
      const [mine, theirs] = [allowanceOf(own), allowanceOf(granted)];
      for (const one of addresses)
        assert.ok(theirs?.(one) === false || mine === undefined || mine(one), `${granted} of ${own} lets ${one} in`);
    }),
    { numRuns: 1000 },
  );
});

it('a list with one unreadable range of an import grants nothing by that range, and is no empty list', () => {
  assert.equal(paramOf({ allowedCidrs: ['garbage'] }, { allowedCidrs: [] }), 'allowed_cidrs');
  assert.equal(paramOf({ allowedCidrs: ['garbage'] }, { allowedCidrs: ['garbage'] }), 'allowed_cidrs');
  assert.equal(paramOf({ allowedCidrs: ['garbage', '192.0.2.1'] }, { allowedCidrs: ['192.0.2.1'] }), undefined);
});

const ALL = [
  '*',
  'jobs:read',
  'jobs:write',
  'mail:read',
  'gateway:read',
  'gateway:keys',
  'gateway:organizations:write',
];
const scopesOf = (held: readonly string[]) => ({ scopes: new Set(held) });

it('scopes that are granted are held, by name or by * where it counts', () => {
  for (const scope of ALL)
    assert.equal(
      paramOf(scopesOf(['*']), { scopes: [scope] }),
      ['*', 'jobs:read', 'jobs:write'].includes(scope) ? undefined : 'scopes',
      scope,
    );
  const some = fc.subarray(ALL);
  fc.assert(
    fc.property(some, some, some, (held, granted, more) => {
      const isGranted = (mine: readonly string[], theirs: readonly string[]) =>
        paramOf(scopesOf(mine), { scopes: theirs }) === undefined;
      assert.ok(isGranted(held, held));
      // What one cannot do at once, a chain of keys cannot do either.
      if (isGranted(held, granted) && isGranted(granted, more)) assert.ok(isGranted(held, more));
    }),
  );
});

it('no end is later than every end', () => {
  const end = fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined });
  fc.assert(
    fc.property(end, end, (own = Number.POSITIVE_INFINITY, granted) => {
      const isLater = (granted ?? Number.POSITIVE_INFINITY) > own;
      assert.equal(paramOf({ expiresAtMs: own }, { expiresAtMs: granted }), isLater ? 'expires_at' : undefined);
    }),
  );
});

it('a scope has to exist, and scopes of operators need an operator organization', () => {
  const known = new Set(ALL.slice(1));
  const mistake = (scopes: readonly string[], operator: boolean) => scopeMistakeOf(scopes, { operator }, known, rules);
  assert.equal(mistake(['*', 'jobs:read', 'gateway:keys'], false), undefined);
  assert.deepEqual(mistake(['jobs:read', 'mail:read'], false), { kind: 'operators_only', scope: 'mail:read' });
  assert.deepEqual(mistake(['gateway:organizations:write'], false), {
    kind: 'operators_only',
    scope: 'gateway:organizations:write',
  });
  assert.equal(mistake(ALL, true), undefined);
  assert.deepEqual(mistake(['mail:read', 'none'], false), { kind: 'unknown', scope: 'none' });
  assert.deepEqual(mistake(['constructor'], true), { kind: 'unknown', scope: 'constructor' });
});
