// How long no worker is started after one has died.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createBackOff } from '../../../gateway/workers/back-off.ts';

const rules = { steadyMs: 10_000, firstMs: 500, longestMs: 30_000 };

it('a worker that served for a while is replaced at once, however often that happens', () => {
  const { delayAfter } = createBackOff(rules);
  assert.deepEqual([10_000, 86_400_000, 10_000].map(delayAfter), [0, 0, 0]);
});

it('one that dies early is replaced at once; its successors wait longer each time, but not for ever', () => {
  const { delayAfter } = createBackOff(rules);
  const delays = Array.from({ length: 10 }, () => delayAfter(0));
  assert.deepEqual(delays, [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

it('one that served for a while ends the waiting', () => {
  const { delayAfter } = createBackOff(rules);
  assert.deepEqual([9999, 0, 10_000, 0, 0].map(delayAfter), [0, 500, 0, 0, 500]);
});
