// Which upstreams do not answer, by the requests that wait for them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCauseMemory } from '../../../gateway/console/causes/cause-memory.ts';
import { causesOf } from '../../../gateway/console/causes/causes.ts';
import type { PresentTraffic } from '../../../gateway/console/causes/present.ts';

const NOW_MS = Date.parse('2027-03-01T12:25:00.000Z');
const BOUNDS = [0.1, 1, 5, 10];
const QUIET = { requests: 9, failed: 0, refused: 0 };
const ORDERS = 'GET /orders';

/** Requests by bucket, all of them good. */
const counts = (...buckets: number[]) => {
  const all = [0, 0, 0, 0, 0].map((_, index) => buckets[index] ?? 0);
  return [...all, all.reduce((sum, one) => sum + one, 0), 0, 0, 0, 0, 0];
};

/** @param failed requests of the last minute that ended with 5xx of the service */
function presentOf(hour: number[], failed = 0): PresentTraffic {
  const minute = [failed, 0, 0, 0, 0, 0, 0, 0, failed, 0, 0];
  return {
    ...{ bounds: BOUNDS, organizations: [], upstreams: [], nearLimits: [] },
    operations: [{ name: ORDERS, minute, latest: minute, hour }],
    upstreamOf: () => 'orders',
    failureCodes: new Map(),
    usualMs: () => undefined,
  };
}

const waiting = (requests: number, oldestMs: number, operation = ORDERS) => ({
  operation,
  requests,
  oldest_ms: oldestMs,
});
type Row = ReturnType<typeof waiting>;

const told = (rows: readonly Row[], present: PresentTraffic, memory = createCauseMemory(), more = {}) => {
  const causes = causesOf({ upstreams: { orders: { unanswered: rows, ...more } } }, QUIET, NOW_MS, present, memory);
  memory.note(causes, NOW_MS);
  return causes.map(({ kind, cause }) => `${kind}: ${cause}`);
};

const fast = presentOf(counts(1000));

test('an upstream with requests that wait longer than usual is named, with how many and how long', () => {
  assert.deepEqual(told([waiting(40, 12_000)], fast), [
    'bad: GET /orders of orders does not answer: 40 requests wait, the oldest for 12 s.',
  ]);
  assert.deepEqual(told([waiting(40, 12_000), waiting(2, 6000, 'POST /orders')], fast), [
    'bad: GET /orders of orders does not answer: 40 requests wait, the oldest for 12 s.',
  ]);
  assert.deepEqual(told([waiting(40, 12_000), waiting(2, 11_000, 'POST /orders')], fast), [
    'bad: Upstream orders does not answer: 42 requests wait with 2 of its operations, the oldest for 12 s.',
  ]);
});

test('few requests, and those of an operation that always takes long, are no cause', () => {
  assert.deepEqual(told([], fast), []);
  assert.deepEqual(told([waiting(2, 60_000)], fast), []);
  assert.deepEqual(told([waiting(9, 9000)], presentOf(counts(0, 0, 100))), [], 'nine of ten take 4.6 s');
  assert.equal(told([waiting(9, 19_000)], presentOf(counts(0, 0, 100))).length, 1);
  assert.deepEqual(told([waiting(9, 60_000)], presentOf(counts(0, 0, 0, 0, 100))), [], 'longer than is counted');
});

test('an operation that is not known yet is late after ten seconds', () => {
  assert.deepEqual(told([waiting(9, 9000)], presentOf(counts(19))), []);
  assert.equal(told([waiting(9, 10_000)], presentOf(counts(19))).length, 1);
});

test('the cause lasts while the hour before fills with requests that got no answer, and tells what they fail with', () => {
  const memory = createCauseMemory();
  assert.equal(told([waiting(9, 6000)], fast, memory).length, 1);
  assert.deepEqual(told([waiting(9, 6000)], presentOf(counts(50, 0, 0, 0, 50), 9), memory), [
    'bad: GET /orders of orders does not answer: 9 requests wait, the oldest for 6 s.',
  ]);
  assert.match(
    told([], presentOf(counts(50, 0, 0, 0, 50), 9), memory).join(),
    /^bad: GET \/orders of orders fails: 9 of 9/,
  );
});

test('what a failing target explains is told with it', () => {
  const targets = [{ address: 'http://orders:1', mode: 'live', state: 'ejected', last_error: 'timeout' }];
  const causes = told([waiting(40, 12_000)], fast, createCauseMemory(), { targets });
  assert.equal(causes.length, 1);
  assert.match(causes[0] ?? '', /^bad: Upstream orders \(live\): target/);
});

test('an upstream that does not answer and its target that then fails are one cause, with one id', () => {
  const target = { address: 'http://orders:1', mode: 'live', last_error: 'timeout' };
  const idsOf = (state: string, unanswered: readonly Row[]) =>
    causesOf(
      { upstreams: { orders: { unanswered, targets: [{ ...target, state }] } } },
      QUIET,
      NOW_MS,
      fast,
      createCauseMemory(),
    ).map(({ id, runbook }) => [id, runbook]);
  const one = ['upstream orders live', 'GatewayTargetDown'];
  assert.deepEqual(idsOf('healthy', [waiting(9, 12_000)]), [one]);
  assert.deepEqual(idsOf('failing', [waiting(9, 12_000)]), [one]);
});

test('requests of test keys alone that wait are another cause than those of live keys', () => {
  const rows = [waiting(9, 12_000), { ...waiting(9, 12_000), mode: 'test' }];
  const causes = causesOf({ upstreams: { orders: { unanswered: rows } } }, QUIET, NOW_MS, fast, createCauseMemory());
  assert.deepEqual(
    causes.map(({ id }) => id),
    ['upstream orders live', 'upstream orders test'],
  );
});
