import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from '../../../gateway/console/history.ts';
import { SLOT_MS, SLOTS } from '../../../gateway/console/ring.ts';

const BOUNDS = [0.005, 0.01];
const START_MS = 1_000 * SLOT_MS;

function historyFrom(startMs = START_MS) {
  let nowMs = startMs;
  const history = createHistory(BOUNDS, () => nowMs);
  return {
    report: history.report,
    /** So many requests to an operation, of which some failed, that took up to 5 ms. */
    add(name: string, requests: number, serverErrors = 0, at = history.slot()) {
      history.add(at, { operations: [{ name, values: [requests, 0, 0, 0, serverErrors] }], refusals: [] });
    },
    refuse: (name: string) => history.add(history.slot(), { operations: [], refusals: [{ name, values: [1] }] }),
    slot: history.slot,
    wait(slots: number) {
      nowMs += slots * SLOT_MS;
    },
  };
}

test('a request is in the slot of its time, and in the sums', () => {
  const { add, wait, report } = historyFrom();
  add('a', 3);
  wait(2);
  add('a', 5, 1);
  wait(1);
  const { all, operations, from_ms } = report();
  assert.equal(from_ms, START_MS);
  assert.deepEqual(all.series.requests, [3, 0, 5]);
  assert.deepEqual(all.series.server_errors, [0, 0, 1]);
  assert.deepEqual(all.series.p50_ms, [2.5, null, 2.5]);
  assert.deepEqual([all.total.requests, all.total.server_errors], [8, 1]);
  assert.deepEqual(
    operations.map(({ name }) => name),
    ['a'],
  );
});

test('the minute is the last four slots, and its length is shown', () => {
  const { add, wait, report } = historyFrom();
  add('a', 100);
  wait(4);
  add('a', 7);
  assert.deepEqual([report().all.minute.requests, report().minute_seconds], [7, 45]);
  assert.equal(report().all.total.requests, 107);
});

test('soon after the start rates are over the time since then', () => {
  const { wait, report } = historyFrom(START_MS + 12_000);
  assert.deepEqual([report().minute_seconds, report().total_seconds], [1, 1]);
  wait(1);
  assert.deepEqual([report().minute_seconds, report().total_seconds], [15, 15]);
});

test('after a quarter of an hour nothing of it is left, also without readers', () => {
  for (const waits of [Array(SLOTS).fill(1), [SLOTS], [SLOTS * 7 + 3]]) {
    const { add, refuse, wait, report } = historyFrom();
    add('a', 3);
    refuse('match route_not_found');
    assert.equal(report().codes.length, 1);
    for (const slots of waits) wait(slots);
    const { all, operations, others, codes } = report();
    assert.equal(all.total.requests, 0);
    assert.deepEqual([operations, others, codes], [[], null, []]);
  }
});

test('series are never longer than a quarter of an hour', () => {
  const { wait, report, add } = historyFrom();
  wait(SLOTS * 3);
  add('a', 1);
  assert.equal(report().all.series.requests.length, SLOTS - 1);
  assert.equal(report().from_ms, START_MS + (2 * SLOTS + 1) * SLOT_MS);
});

test('a request that began before the oldest slot counts in the oldest one', () => {
  const { add, wait, report, slot } = historyFrom();
  const began = slot();
  wait(SLOTS * 2);
  slot();
  add('a', 4, 0, began);
  assert.equal(report().all.series.requests[0], 4);
});

test('of a thousand operations the most called have histories, and the sum of all stays right', () => {
  const { add, report } = historyFrom();
  for (let index = 0; index < 1000; index += 1) add(`operation ${index}`, index < 5 ? 100 + index : 1);
  const { all, operations, others } = report();
  assert.equal(operations.length, 12);
  assert.deepEqual(
    operations.slice(0, 5).map(({ name }) => name),
    [4, 3, 2, 1, 0].map((index) => `operation ${index}`),
  );
  const told = operations.reduce((sum, { total }) => sum + total.requests, 0);
  assert.equal(all.total.requests, 510 + 995);
  assert.equal(told + (others?.total.requests ?? 0), all.total.requests);
});

test('an operation that is called more and more takes the place of one that is not', () => {
  const { add, wait, report, slot } = historyFrom();
  for (let index = 0; index < 1000; index += 1) add(`operation ${index}`, 1);
  for (let count = 0; count < 3; count += 1) {
    add('operation 999', 50);
    wait(1);
    slot();
  }
  add('operation 999', 50);
  assert.equal(report().operations[0]?.name, 'operation 999');
  assert.equal(report().all.total.requests, 1000 + 200);
});

test('codes are shown with their stages, the most frequent first, at most twenty', () => {
  const { refuse, report } = historyFrom();
  for (let index = 0; index < 300; index += 1) refuse(`stage code_${index}`);
  refuse('limit code_7');
  refuse('stage code_7');
  const { codes } = report();
  assert.equal(codes.length, 20);
  assert.deepEqual([codes[0]?.stage, codes[0]?.code, codes[0]?.total], ['stage', 'code_7', 2]);
});
