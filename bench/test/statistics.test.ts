// The numbers of a row.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChance, type Interval, median, medianInterval, percentile, round, spread } from '../statistics.ts';

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

test('the interval of a median is made of order statistics with at least the requested confidence', () => {
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => count - index);
  // Tables of the sign test: of 10 numbers the second and the ninth (97.9 %), of 20 the sixth and the fifteenth (95.9 %).
  assert.deepEqual(rounded(medianInterval(upTo(10))), { low: 2, high: 9, confidence: 0.979 });
  assert.deepEqual(rounded(medianInterval(upTo(20))), { low: 6, high: 15, confidence: 0.959 });
  assert.deepEqual(rounded(medianInterval(upTo(10), 0.85)), { low: 3, high: 8, confidence: 0.891 });
});

test('the interval of a median of few numbers reports its low confidence', () => {
  assert.deepEqual(rounded(medianInterval([3, 1, 2])), { low: 1, high: 3, confidence: 0.75 });
  assert.deepEqual(medianInterval([7]), { low: 7, high: 7, confidence: 0 });
  assert.deepEqual(medianInterval([]), { low: 0, high: 0, confidence: 0 });
});

test('the interval of a median holds it as often as stated', () => {
  const chance = createChance(2);
  // The median of the square of a number drawn evenly from 0 to 1 is 1/4.
  const holds = Array.from({ length: 4000 }, () => {
    const { low, high } = medianInterval(Array.from({ length: 10 }, () => chance() ** 2));
    return low <= 0.25 && high >= 0.25;
  });
  const share = holds.filter(Boolean).length / holds.length;
  assert.ok(Math.abs(share - 0.979) < 0.01, `${share}`);
});

const rounded = ({ low, high, confidence }: Interval) => ({ low, high, confidence: round(confidence, 3) });

test('chance is spread evenly from 0 to 1, and the same in every run', () => {
  const draw = () => Array.from({ length: 10_000 }, createChance(1));
  const numbers = draw();
  assert.deepEqual(draw(), numbers);
  assert.ok(numbers.every((number) => number >= 0 && number < 1));
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  assert.ok(Math.abs(mean - 0.5) < 0.02, `mean ${mean}`);
});
