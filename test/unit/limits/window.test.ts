import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createWindow, look, newestMsOf, spend } from '../../../gateway/limits/window.ts';

const rule = { requests: 1_000_000, windowMs: 60_000 };

test('a window never keeps more than 101 entries', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 1_300 }), { minLength: 200, maxLength: 400 });
  const property = fc.property(gaps, (all) => {
    const window = createWindow();
    let atMs = 0;
    for (const gapMs of all) {
      atMs += gapMs;
      spend(window, rule.windowMs, 1, atMs);
      assert.ok(window.lastMs.length <= 101);
      assert.equal(window.lastMs.length, window.spent.length);
    }
  });
  fc.assert(property);
});

test('looking changes nothing', () => {
  const window = createWindow();
  spend(window, rule.windowMs, 7, 1_000);
  const before = structuredClone(window);
  look(window, { requests: 5, windowMs: 60_000 }, 1, 90_000, 90_000);
  assert.deepEqual(window, before);
});

test('an untouched window is full and has nothing to wait for', () => {
  const window = createWindow();
  assert.equal(newestMsOf(window), Number.NEGATIVE_INFINITY);
  assert.deepEqual(look(window, rule, 1, 5, 5), { remaining: 1_000_000, resetMs: 0, waitMs: 0 });
});

test('admissions within a hundredth of the window share an entry, which counts until the last of them is out', () => {
  const window = createWindow();
  for (const atMs of [0, 599, 600]) spend(window, rule.windowMs, 1, atMs);
  assert.deepEqual(window.lastMs, [599, 600]);
  assert.deepEqual(window.spent, [2, 3]);
  assert.equal(look(window, rule, 1, 60_598, 60_598).remaining, 1_000_000 - 3);
  assert.equal(look(window, rule, 1, 60_599, 60_599).remaining, 1_000_000 - 1);
});

test('a clock behind the latest admission adds to the wait', () => {
  const window = createWindow();
  spend(window, 60_000, 1, 10_000);
  const { waitMs, resetMs } = look(window, { requests: 1, windowMs: 60_000 }, 1, 10_000, 4_000);
  assert.deepEqual([waitMs, resetMs], [66_000, 66_000]);
});

test('a cost of nothing fits even when nothing is left', () => {
  const window = createWindow();
  spend(window, 60_000, 1, 0);
  assert.equal(look(window, { requests: 1, windowMs: 60_000 }, 0, 0, 0).waitMs, 0);
  spend(window, 60_000, 0, 1);
  assert.deepEqual(window.spent, [1]);
});
