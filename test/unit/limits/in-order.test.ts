import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createInOrder } from '../../../gateway/limits/in-order.ts';
import type { Recorded } from '../../../gateway/limits/recorded.ts';
import { recorded } from './recorded.ts';

function ordered(log: readonly Recorded[], heldMax?: number): Recorded[] {
  const inOrder = createInOrder(heldMax);
  const out: Recorded[] = [];
  for (const one of log) {
    const earliest = inOrder.push(one);
    if (earliest !== undefined) out.push(earliest);
  }
  for (let rest = inOrder.pop(); rest !== undefined; rest = inOrder.pop()) out.push(rest);
  return out;
}

test('whatever the order of a log, requests come in the order of their decisions, refused ones last, else as they stood', () => {
  const log = fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 20 }), refused: fc.boolean() }), {
    maxLength: 200,
  });
  const property = fc.property(log, (lines) => {
    const requests = lines.map(({ afterMs, refused }) => recorded(afterMs, { refused }));
    // Sorting an array is stable.
    const expected = requests.toSorted((a, b) => a.atMs - b.atMs || Number(a.refused) - Number(b.refused));
    assert.deepEqual(ordered(requests), expected);
    assert.ok(ordered(requests).every((one, index) => one === expected[index]));
  });
  fc.assert(property, { numRuns: 300 });
});

test('no more are held than may be, which is enough for what is that little out of order', () => {
  const inOrder = createInOrder(3);
  const first = [30, 10, 20].map((afterMs) => inOrder.push(recorded(afterMs)));
  assert.deepEqual(first, [undefined, undefined, undefined]);
  assert.deepEqual(inOrder.push(recorded(40)), recorded(10));
  const swapped = [1, 0, 3, 2, 5, 4, 7, 6].map((afterMs) => recorded(afterMs));
  assert.deepEqual(
    ordered(swapped, 2),
    [0, 1, 2, 3, 4, 5, 6, 7].map((afterMs) => recorded(afterMs)),
  );
});
