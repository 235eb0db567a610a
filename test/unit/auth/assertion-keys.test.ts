// The signing key, the published keys, and the effect of a rotation on a set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  publishedKeysAt,
  rotateKeys,
  signerAt,
  stateAt,
  type Term,
  unsignedFromMs,
} from '../../../gateway/auth/assertions/assertion-keys.ts';

interface Named extends Term {
  readonly name: string;
}

const NOW = 1_000_000;
const MINUTE = 60_000;
const named = (name: string, term: Term = {}): Named => ({ name, ...term });
const namesOf = (keys: readonly Named[]) => keys.map(({ name }) => name);
const defaults = { nowMs: NOW * 1000, leadMs: 10 * MINUTE, overlapMs: 60 * MINUTE };

test('of keys without times the first signs and all are published', () => {
  const keys = [named('a'), named('b')];
  assert.equal(signerAt(keys, 0), keys[0]);
  assert.deepEqual(publishedKeysAt(keys, NOW * 1000), keys);
});

test('the key that took over last signs, from that very moment on', () => {
  const keys = [named('b', { signs_from: 20 }), named('a'), named('c', { signs_from: 30 })];
  const signers = [0, 19_999, 20_000, 29_999, 30_000].map((atMs) => signerAt(keys, atMs)?.name);
  assert.deepEqual(signers, ['a', 'a', 'b', 'b', 'c']);
});

test('a key that has ended neither signs nor is published', () => {
  const keys = [named('a'), named('b', { signs_from: 20, published_until: 30 })];
  assert.deepEqual(namesOf(publishedKeysAt(keys, 29_999)), ['a', 'b']);
  assert.equal(signerAt(keys, 29_999)?.name, 'b');
  assert.deepEqual(namesOf(publishedKeysAt(keys, 30_000)), ['a']);
  assert.equal(signerAt(keys, 30_000)?.name, 'a');
});

test('states follow the life of a key', () => {
  const keys = [named('a', { published_until: 50 }), named('b', { signs_from: 30 })];
  const statesAt = (atMs: number) => keys.map((key) => stateAt(keys, key, atMs));
  assert.deepEqual(statesAt(29_999), ['signing', 'next']);
  assert.deepEqual(statesAt(30_000), ['retiring', 'signing']);
  assert.deepEqual(statesAt(50_000), ['past', 'signing']);
});

test('a gap without a signing key is found before it comes', () => {
  assert.equal(unsignedFromMs([named('a')], 0), undefined);
  assert.equal(unsignedFromMs([], 5000), 5000);
  assert.equal(unsignedFromMs([named('a', { signs_from: 20 })], 5000), 5000);
  assert.equal(unsignedFromMs([named('a', { published_until: 20 })], 5000), 20_000);
  const handedOver = [named('a', { published_until: 20 }), named('b', { signs_from: 20 })];
  assert.equal(unsignedFromMs(handedOver, 5000), undefined);
  assert.equal(unsignedFromMs([named('a', { published_until: 20 }), named('b', { signs_from: 21 })], 5000), 20_000);
  assert.equal(unsignedFromMs([named('a', { published_until: 20 }), named('b')], 30_000), undefined);
});

test('a rotation publishes the successor at once, hands over after the lead, and ends the former after the overlap', () => {
  assert.deepEqual(rotateKeys([named('a')], named('b'), defaults), [
    { name: 'a', published_until: NOW + 70 * 60 },
    { name: 'b', signs_from: NOW + 10 * 60 },
  ]);
});

test('a second rotation before the first has come into force takes its place behind it', () => {
  const first = rotateKeys([named('a')], named('b'), defaults);
  const second = rotateKeys(first, named('c'), { ...defaults, leadMs: 0 });
  assert.deepEqual(second, [
    { name: 'a', published_until: NOW + 70 * 60 + 1 },
    { name: 'b', signs_from: NOW + 10 * 60, published_until: NOW + 70 * 60 + 1 },
    { name: 'c', signs_from: NOW + 10 * 60 + 1 },
  ]);
});

test('a key that is past is left out, one that retires keeps its end, a spare one without an end gets one', () => {
  const keys = [
    named('past', { published_until: NOW }),
    named('retiring', { published_until: NOW + 5 }),
    named('signing', { signs_from: NOW - 5 }),
    named('spare'),
  ];
  const after = rotateKeys(keys, named('new'), defaults);
  assert.deepEqual(namesOf(after), ['retiring', 'signing', 'spare', 'new']);
  assert.deepEqual(
    after.map(({ published_until }) => published_until),
    [NOW + 5, NOW + 70 * 60, NOW + 70 * 60, undefined],
  );
});

/** A set is safe if the signing key was published for the lead before, and stays published for the overlap after it signed last. */
test('for any sequence of rotations, a signing key was always published long before and is long after', () => {
  const LEAD_S = 600;
  const OVERLAP_S = 120;
  const pauses = fc.array(fc.integer({ min: 0, max: 1500 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(pauses, (pausesS) => {
      let keys: Named[] = [named('key 0')];
      const history: { readonly atS: number; readonly keys: readonly Named[] }[] = [{ atS: -10_000, keys }];
      let nowS = NOW;
      for (const [index, pauseS] of pausesS.entries()) {
        const span = { nowMs: nowS * 1000, leadMs: LEAD_S * 1000, overlapMs: OVERLAP_S * 1000 };
        keys = rotateKeys(keys, named(`key ${index + 1}`), span);
        history.push({ atS: nowS, keys });
        nowS += pauseS;
      }
      const setAt = (atS: number) => history.findLast((entry) => entry.atS <= atS)?.keys ?? [];
      const publishes = (atS: number, name?: string) =>
        publishedKeysAt(setAt(atS), atS * 1000).some((key) => key.name === name);
      for (let atS = NOW - 700; atS < nowS + 3000; atS += 7) {
        const name = signerAt(setAt(atS), atS * 1000)?.name;
        assert.ok(name !== undefined, `a key signs at ${atS}`);
        assert.ok(publishes(atS - LEAD_S, name) && publishes(atS + OVERLAP_S - 1, name), `${name} at ${atS}`);
      }
      assert.equal(unsignedFromMs(keys, nowS * 1000), undefined);
    }),
    { numRuns: 50 },
  );
});
