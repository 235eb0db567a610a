// Durations are written in the largest unit that has one of them, with two or three digits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationText } from '../../../gateway/shared/text.ts';

test('durations are written as people read them', () => {
  const written: readonly (readonly [number, string])[] = [
    ...([
      [0.412, '0.41 ms'],
      [1.26, '1.3 ms'],
      [62.4, '62 ms'],
      [999.4, '999 ms'],
    ] as const),
    ...([
      [1500, '1.5 s'],
      [11_376, '11.4 s'],
      [60_000, '60 s'],
      [150_000, '3 min'],
      [9_000_000, '2.5 h'],
    ] as const),
  ];
  for (const [ms, text] of written) assert.equal(durationText(ms), text);
});
