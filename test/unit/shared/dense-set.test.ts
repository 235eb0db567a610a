// An element is in the set from its addition to its removal, in any order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDenseSet, type DenseSetEntry } from '../../../gateway/shared/dense-set.ts';

test('has the elements that were added and not removed, for any sequence', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(), { nil: undefined })), (steps) => {
      const roster = createDenseSet<number>();
      const entries: DenseSetEntry<number>[] = [];
      for (const [number, removed] of steps.entries()) {
        if (removed === undefined || entries.length === 0) entries.push(roster.add(number));
        else {
          const [entry] = entries.splice(removed % entries.length, 1) as [DenseSetEntry<number>];
          assert.equal(roster.remove(entry), true);
          assert.equal(roster.remove(entry), false, 'only once');
        }
        const expected = entries.map(({ item }) => item);
        assert.equal(roster.size(), expected.length);
        assert.deepEqual(new Set(roster.all()), new Set(expected));
        assert.equal(roster.all().length, expected.length);
      }
    }),
  );
});

test('returns the elements of the moment of the call, though some leave meanwhile', () => {
  const roster = createDenseSet<string>();
  const entries = ['one', 'two', 'three'].map(roster.add);
  const seen: string[] = [];
  for (const item of roster.all()) {
    for (const entry of entries) roster.remove(entry);
    seen.push(item);
  }
  assert.deepEqual([seen, roster.all()], [['one', 'two', 'three'], []]);
});
