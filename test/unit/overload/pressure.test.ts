// When the event loop counts as overloaded, and how many known callers are let in then.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPressure } from '../../../gateway/overload/pressure.ts';

function setUp(...samples: readonly number[]) {
  const pressure = createPressure(() => 100);
  const sampled = (...late: readonly number[]) =>
    late.map((ms) => {
      pressure.sample(ms);
      return pressure.isHigh();
    });
  sampled(...samples);
  return { ...pressure, sampled };
}

const countOf = (pressure: { letsIn(): boolean }) =>
  Array.from({ length: 100 }, pressure.letsIn).filter(Boolean).length;

test('it begins with the third sample in a row that is not below the bound', () => {
  const { sampled, lateMs } = setUp();
  assert.deepEqual(sampled(100, 100, 99, 100, 5000, 100), [false, false, false, false, false, true]);
  assert.equal(lateMs(), 100);
});

test('one long task is no overload', () => {
  assert.deepEqual(setUp().sampled(60_000, 0, 60_000, 0), [false, false, false, false]);
});

test('it ends with the fourth in a row below half the bound: around the bound it neither begins nor ends', () => {
  const { sampled } = setUp(100, 100, 100);
  assert.deepEqual(sampled(99, 50, 99, 50, 101, 49, 49, 49), Array(8).fill(true));
  assert.deepEqual(sampled(50, 49, 49, 49, 49), [true, true, true, true, false]);
  assert.deepEqual(sampled(99, 99, 99, 99), [false, false, false, false]);
});

test('half of the known callers are let in at first, fewer while it stays high, more when it falls, never none', () => {
  const pressure = setUp(100, 100, 100);
  assert.equal(countOf(pressure), 50);
  pressure.sample(100);
  assert.equal(countOf(pressure), 25);
  for (let index = 0; index < 20; index += 1) pressure.sample(1000);
  assert.equal(countOf(pressure), 5);
  pressure.sampled(75, 75);
  assert.equal(countOf(pressure), 5);
  pressure.sampled(10, 10, 10);
  assert.ok(countOf(pressure) > 5);
});

test('the next overload begins with half of them again', () => {
  const pressure = setUp(100, 100, 100, 100, 100, 0, 0, 0, 0, 100, 100, 100);
  assert.equal(pressure.isHigh(), true);
  assert.equal(countOf(pressure), 50);
});
