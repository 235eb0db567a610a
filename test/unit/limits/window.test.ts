import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkCost, createWindow, newestMsOf, spend, type Window } from '../../../gateway/limits/counters/window.ts';
import { crowds } from './scenarios.ts';

const rule = { requests: 1_000_000, windowMs: 60_000 };

/** Spends one unit after each gap, and reports the window after each. */
function spendAfter(gapsMs: readonly number[], tell: (window: Window, atMs: number) => void): void {
  const window = createWindow('rl:{org_x}:organization');
  let atMs = 1_795_190_400_000;
  for (const gapMs of gapsMs) {
    atMs += gapMs;
    spend(window, rule, 1, atMs);
    tell(window, atMs);
  }
}

test('a window never keeps more than 150 entries', () => {
  const property = fc.property(crowds, (gapsMs) => {
    spendAfter(gapsMs, ({ lastMs, spent }) => {
      assert.ok(lastMs.length <= 150);
      assert.equal(lastMs.length, spent.length);
    });
  });
  fc.assert(property);
});

test('merging begins above 110 entries and leaves at most 101, so it happens once in ten admissions at most', () => {
  let merges = 0;
  const property = fc.property(crowds, (gapsMs) => {
    let before: readonly number[] = [];
    spendAfter(gapsMs, ({ lastMs }, atMs) => {
      // Nothing but merging makes less of the entries that have not left the window.
      const kept = before.filter((ms) => ms > atMs - rule.windowMs).length;
      if (lastMs.length < kept) {
        merges += 1;
        assert.ok(kept > 110 && lastMs.length <= 101, `${kept} entries, then ${lastMs.length}`);
      }
      before = [...lastMs];
    });
  });
  fc.assert(property);
  assert.ok(merges > 0);
});

test('a thousand subjects that fill at the same rate merge in forty different admissions', () => {
  const merging = Array.from({ length: 1000 }, (_, number) => {
    const window = createWindow(`rl:{org_${number}}:organization`);
    for (let sent = 1; ; sent += 1) {
      spend(window, rule, 1, 100 * sent);
      if (window.lastMs.length < sent) return sent;
    }
  });
  const counts = [...Map.groupBy(merging, (sent) => sent).values()].map(({ length }) => length);
  assert.equal(counts.length, 40);
  assert.ok(Math.max(...counts) <= 50, `${Math.max(...counts)} at once`);
});

test('units are held as long as the window, and at most a hundredth of it longer', () => {
  const property = fc.property(crowds, (gapsMs) => {
    const admittedMs: number[] = [];
    spendAfter(gapsMs, (window, atMs) => {
      admittedMs.push(atMs);
      for (const laterMs of [0, 10_000, 59_999]) {
        const held = rule.requests - checkCost(window, rule, 1, atMs + laterMs, atMs + laterMs).remaining;
        const within = (ms: number) => admittedMs.filter((one) => one > atMs + laterMs - ms).length;
        assert.ok(held >= within(60_000) && held <= within(60_600), `${held} are held`);
      }
    });
  });
  fc.assert(property, { numRuns: 30 });
});

test('limits of up to 150 are exact to the millisecond', () => {
  for (let number = 0; number < 40; number += 1) {
    const window = createWindow(`rl:{org_${number}}:organization`);
    const few = { ...rule, requests: 150 };
    for (let sent = 0; sent < 150; sent += 1) spend(window, few, 1, sent);
    for (let freed = 0; freed < 150; freed += 1) {
      assert.equal(checkCost(window, few, 1, 60_000 + freed, 60_000 + freed).remaining, 1 + freed);
    }
  }
});

test('looking changes nothing', () => {
  const window = createWindow('rl:{org_x}:organization');
  spend(window, rule, 7, 1_000);
  const before = structuredClone(window);
  checkCost(window, { requests: 5, windowMs: 60_000 }, 1, 90_000, 90_000);
  assert.deepEqual(window, before);
});

test('when few entries are left, new ones are fine again', () => {
  const window = createWindow('rl:{org_x}:organization');
  for (let sent = 0; sent < 600; sent += 1) spend(window, rule, 1, sent * 100);
  const before = window.lastMs.length;
  spend(window, rule, 1, 59_950);
  assert.equal(window.lastMs.length, before);
  for (const atMs of [110_000, 110_001, 110_002]) spend(window, rule, 1, atMs);
  assert.deepEqual(window.lastMs.slice(-3), [110_000, 110_001, 110_002]);
});

test('an untouched window is full and has nothing to wait for', () => {
  const window = createWindow('rl:{org_x}:organization');
  assert.equal(newestMsOf(window), Number.NEGATIVE_INFINITY);
  assert.deepEqual(checkCost(window, rule, 1, 5, 5), { remaining: 1_000_000, resetMs: 0, waitMs: 0 });
});

test('where there are many, admissions within a hundredth of the window share an entry, which counts until the last of them is out', () => {
  const window = createWindow('rl:{org_x}:organization');
  // Ten a second: more than there can be entries for, unless each covers a hundredth of the window.
  for (let sent = 0; sent < 600; sent += 1) spend(window, rule, 1, sent * 100);
  assert.deepEqual(window.lastMs.slice(0, 2), [500, 1_100]);
  assert.equal(checkCost(window, rule, 1, 60_499, 60_499).remaining, 1_000_000 - 600);
  assert.equal(checkCost(window, rule, 1, 60_500, 60_500).remaining, 1_000_000 - 594);
});

test('of a burst, each entry covers a small part', () => {
  const window = createWindow('rl:{org_x}:organization');
  for (let sent = 0; sent < 400; sent += 1) spend(window, rule, 1, sent);
  const coveredMs = window.lastMs.map((ms, index) => ms - (window.lastMs[index - 1] ?? -1));
  assert.ok(Math.max(...coveredMs) <= 5, `${Math.max(...coveredMs)} of 400 ms`);
});

test('a clock behind the latest admission adds to the wait', () => {
  const window = createWindow('rl:{org_x}:organization');
  spend(window, rule, 1, 10_000);
  const { waitMs, resetMs } = checkCost(window, { requests: 1, windowMs: 60_000 }, 1, 10_000, 4_000);
  assert.deepEqual([waitMs, resetMs], [66_000, 66_000]);
});

test('a cost of nothing fits even when nothing is left', () => {
  const window = createWindow('rl:{org_x}:organization');
  spend(window, rule, 1, 0);
  assert.equal(checkCost(window, { requests: 1, windowMs: 60_000 }, 0, 0, 0).waitMs, 0);
  spend(window, rule, 0, 1);
  assert.deepEqual(window.spent, [1]);
});
