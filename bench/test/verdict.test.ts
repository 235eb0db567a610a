// The meaning of memory that grows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtMost, isAtMostTimes, isFlat } from '../memory/verdict.ts';

test('memory that fills up at first and then goes up and down is flat', () => {
  const bytes = [100, 180, 220, 240, 260, 238, 255, 242, 262, 240, 250, 244].map((megabytes) => megabytes * 1e6);
  assert.equal(isFlat('load', bytes).holds, true);
});

test('memory that grows steadily is not flat', () => {
  const bytes = Array.from({ length: 30 }, (_, index) => (200 + 3 * index) * 1e6);
  const verdict = isFlat('load', bytes);
  assert.equal(verdict.holds, false);
  assert.match(verdict.measured, /^243.5 MB, then 273.5 MB \(12.3 %\), at most 287 MB$/);
});

test('too few samples say nothing', () => {
  assert.throws(() => isFlat('load', [1, 1]), /too few/);
});

test('a bound holds up to itself', () => {
  assert.equal(isAtMost('idle', 400e6, 400e6).holds, true);
  assert.deepEqual(isAtMost('idle', 400.3e6, 400e6), {
    what: 'idle',
    measured: '400.3 MB',
    bound: 'at most 400 MB',
    holds: false,
  });
});

test('a peak is compared with that of the floor round by round', () => {
  const rounds = [
    { floor: 200e6, gateway: 220e6 },
    { floor: 160e6, gateway: 192e6 },
    { floor: 240e6, gateway: 264e6 },
  ];
  assert.deepEqual(isAtMostTimes('peak', rounds, 1.15), {
    what: 'peak',
    measured: '220 MB, floor 200 MB: × 1.1 (1.1–1.2 in 3)',
    bound: 'at most × 1.15',
    holds: true,
  });
  assert.equal(isAtMostTimes('peak', rounds, 1.05).holds, false);
});
