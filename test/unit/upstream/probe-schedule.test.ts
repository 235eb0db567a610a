import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ProbeState, probeTurnAt } from '../../../gateway/upstream/credentials/probe-schedule.ts';

const HOUR_MS = 3_600_000;
const LATCHED_AT = 1_795_190_400_000;

/** The times of all probes within a duration, if a process asks as often as it may. */
function probesIn(durationMs: number, from: ProbeState = { sentAtMs: [] }): number[] {
  const sent: number[] = [];
  let state = from;
  for (let now = LATCHED_AT; now <= LATCHED_AT + durationMs; ) {
    const { turn, after } = probeTurnAt(state, LATCHED_AT, now);
    state = after;
    if (turn.kind === 'probe') sent.push(now - LATCHED_AT);
    assert.ok(turn.nextAtMs > now);
    now = turn.nextAtMs;
  }
  return sent;
}

test('probes come after 30 seconds, then after waits that double up to three hours', () => {
  const seconds = probesIn(12 * HOUR_MS).map((ms) => ms / 1000);
  assert.deepEqual(seconds.slice(0, 9), [30, 90, 210, 450, 930, 1890, 3810, 7650, 15330]);
  assert.deepEqual([seconds[9], seconds[10]], [15330 + 10_800, 15330 + 21_600]);
});

test('no 24 hours have more than twelve probes', () => {
  const sent = probesIn(20 * 24 * HOUR_MS);
  assert.ok(sent.length > 100);
  for (const at of sent) assert.ok(sent.filter((other) => other >= at && other < at + 24 * HOUR_MS).length <= 12);
});

test('a latch that heals and returns begins anew, within the count of the day', () => {
  const sentAtMs = Array.from({ length: 11 }, (_, index) => LATCHED_AT - HOUR_MS - index);
  const sent = probesIn(4 * HOUR_MS, { sentAtMs, healedAtMs: LATCHED_AT - 1 });
  assert.deepEqual(sent, [30_000]);
});

test('the accepted probe of another process ends the latch, unless the latch is younger', () => {
  const state: ProbeState = { sentAtMs: [], healedAtMs: LATCHED_AT };
  assert.equal(probeTurnAt(state, LATCHED_AT - 1, LATCHED_AT + 5).turn.kind, 'healed');
  assert.equal(probeTurnAt(state, LATCHED_AT, LATCHED_AT + 5).turn.kind, 'wait');
});
