import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LoggedRequest } from '../../../../gateway/commands/limits/simulate/logged-request.ts';
import { createReorderBuffer } from '../../../../gateway/commands/limits/simulate/reorder-buffer.ts';
import { recorded } from './logged-requests.ts';

function ordered(log: readonly LoggedRequest[], heldMax?: number): LoggedRequest[] {
  const buffer = createReorderBuffer(heldMax);
  const out: LoggedRequest[] = [];
  for (const one of log) {
    const earliest = buffer.push(one);
    if (earliest !== undefined) out.push(earliest);
  }
  for (let rest = buffer.pop(); rest !== undefined; rest = buffer.pop()) out.push(rest);
  return out;
}

test('for any order of a log, requests come in the order of their decisions, refused ones last, else as they stood', () => {
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
  fc.assert(property, { numRuns: 100 });
});

test('the number of held requests is bounded, which is enough for that little disorder', () => {
  const buffer = createReorderBuffer(3);
  const first = [30, 10, 20].map((afterMs) => buffer.push(recorded(afterMs)));
  assert.deepEqual(first, [undefined, undefined, undefined]);
  assert.deepEqual(buffer.push(recorded(40)), recorded(10));
  const swapped = [1, 0, 3, 2, 5, 4, 7, 6].map((afterMs) => recorded(afterMs));
  assert.deepEqual(
    ordered(swapped, 2),
    [0, 1, 2, 3, 4, 5, 6, 7].map((afterMs) => recorded(afterMs)),
  );
});
