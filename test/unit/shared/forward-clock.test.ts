// A clock that never goes back, even if its source does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createForwardClock } from '../../../gateway/shared/machine.ts';

function clockOver(times: readonly number[]): number[] {
  const left = [...times];
  const clock = createForwardClock(() => left.shift() as number);
  return times.map(clock);
}

test('goes with a clock that is not set', () => {
  assert.deepEqual(clockOver([100, 100, 150, 4000]), [100, 100, 150, 4000]);
});

test('continues from its last value each time that clock is set back', () => {
  assert.deepEqual(clockOver([1000, 400, 401, 500, 100, 110]), [1000, 1000, 1001, 1100, 1100, 1110]);
});

test('goes forward with that one', () => {
  assert.deepEqual(clockOver([1000, 400, 5000]), [1000, 1000, 5600]);
});
