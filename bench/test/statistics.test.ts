// The numbers of a row.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChance, median, percentile, round, spread } from '../statistics.ts';

test('the median is the number in the middle, of an even number of them the mean of two', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([9, 1, 5, 7]), 6);
  assert.equal(median([3]), 3);
  assert.equal(median([]), 0);
});

test('taking the median leaves the numbers in their order', () => {
  const numbers = [3, 1, 2];
  median(numbers);
  assert.deepEqual(numbers, [3, 1, 2]);
});

test('a percentile is one of the numbers, and the last one at most', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index);
  assert.equal(percentile(hundred, 0.5), 50);
  assert.equal(percentile(hundred, 0.99), 99);
  assert.equal(percentile(hundred, 1), 99);
  assert.equal(percentile([], 0.5), 0);
});

test('a spread names the least and the greatest', () => {
  assert.equal(spread([2.345, 1, 3.125], 1), '1–3.1');
  assert.equal(round(-0.123, 2), -0.12);
});

test('chance is spread evenly from 0 to 1, and the same in every run', () => {
  const draw = () => Array.from({ length: 10_000 }, createChance(1));
  const numbers = draw();
  assert.deepEqual(draw(), numbers);
  assert.ok(numbers.every((number) => number >= 0 && number < 1));
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  assert.ok(Math.abs(mean - 0.5) < 0.02, `mean ${mean}`);
});
