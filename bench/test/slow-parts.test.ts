import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsOf } from '../slow/parts.ts';

/** A request that was due at this moment, waited a millisecond for a connection, and took as long as it says. */
function requestAt(dueMs: number, durationMs: number, upstreamMs: number) {
  return { dueMs, sentMs: dueMs + 1, answeredMs: dueMs + 1 + durationMs + 2, durationMs, upstreamMs };
}

test('the parts of a wait add up, and the slowest requests have rows of their own', () => {
  const usual = Array.from({ length: 999 }, (_, index) => requestAt(index * 10, 5, 2));
  const slow = requestAt(20_000, 50, 2);
  const [all, , slowest] = rowsOf([...usual, slow], []);
  assert.deepEqual(all?.parts, { client: 1, outside: 2, gateway: 3, upstream: 2 });
  assert.equal(all?.waitMs, 8);
  assert.deepEqual([slowest?.requests, slowest?.waitMs, slowest?.parts.gateway], [1, 53, 48]);
});

test('collections count as far as they are between write and read', () => {
  const request = requestAt(100, 10, 0);
  const collections = [
    { fromMs: 50, ms: 10 },
    { fromMs: 99, ms: 4 },
    { fromMs: 112, ms: 9 },
    { fromMs: 200, ms: 1 },
  ];
  const [all] = rowsOf([request], collections);
  assert.deepEqual([all?.collecting, all?.collected], [3, 1]);
});

test('answers further apart than 50 ms belong to different moments', () => {
  const [all] = rowsOf(
    [0, 10, 20, 200, 240, 1000].map((dueMs) => requestAt(dueMs, 5, 2)),
    [],
  );
  assert.equal(all?.moments, 3);
});
