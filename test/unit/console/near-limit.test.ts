import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LimitPressure, mergeNearLimit, NearLimit } from '../../../gateway/console/feed/near-limit.ts';
import type { Trail } from '../../../gateway/exchange/trail.ts';

const MINUTE_MS = 60_000;

function pressedFrom(startMs = 1_000_000 * MINUTE_MS) {
  let nowMs = startMs;
  const pressed = new NearLimit(() => nowMs);
  return {
    list: () => pressed.list(),
    note(id: string, pressure: LimitPressure | 'eased', remaining = 0, limitSource = 'redis') {
      const state = { policy: 'organization', limit: 10, windowSeconds: 60, remaining, resetMs: 1 };
      const organization = { id, name: `Name of ${id}`, tier: 'standard' };
      pressed.note({ caller: { organization }, limitSource } as Trail, state, pressure);
    },
    wait(minutes: number) {
      nowMs += minutes * MINUTE_MS;
    },
  };
}

test('the most refused stand first, then those that would be refused, then those near the limit', () => {
  const { note, list } = pressedFrom();
  for (const id of ['org_near', 'org_near', 'org_near']) note(id, 'near', 1);
  note('org_shadow', 'shadow_refused');
  note('org_refused', 'near', 1);
  note('org_refused', 'refused');
  const told = list().map(({ organization, near, refused, shadow_refused, remaining }) => [
    organization,
    near,
    refused,
    shadow_refused,
    remaining,
  ]);
  assert.deepEqual(told, [
    ['org_refused', 1, 1, 0, 0],
    ['org_shadow', 0, 0, 1, 0],
    ['org_near', 3, 0, 0, 1],
  ]);
});

test('what is noted gives way to a request that finds more left, or another limit', () => {
  const { note, list } = pressedFrom();
  note('org_a', 'near', 1);
  note('org_a', 'eased', 8);
  note('org_other', 'eased', 8);
  assert.deepEqual(
    list().map(({ organization, near, remaining }) => [organization, near, remaining]),
    [['org_a', 1, 8]],
  );
});

test('entries older than a quarter of an hour are forgotten minute by minute', () => {
  const { note, list, wait } = pressedFrom();
  note('org_a', 'refused');
  wait(10);
  note('org_a', 'refused');
  assert.equal(list()[0]?.refused, 2);
  wait(5);
  assert.equal(list()[0]?.refused, 1);
  wait(10);
  assert.deepEqual(list(), []);
});

test('looking at it long after the last note does not bring old counts back', () => {
  const { note, list, wait } = pressedFrom();
  note('org_a', 'refused');
  wait(1000);
  assert.deepEqual(list(), []);
  note('org_a', 'refused');
  assert.equal(list()[0]?.refused, 1);
});

test('a flood of organizations takes no more room, and does not push out one that is refused again and again', () => {
  const { note, list } = pressedFrom();
  for (let index = 0; index < 10_000; index += 1) {
    note(`org_${index}`, 'near', 1);
    if (index % 100 === 0) note('org_steady', 'refused');
  }
  assert.equal(list().length, 20);
  assert.deepEqual([list()[0]?.organization, list()[0]?.refused], ['org_steady', 100]);
});

test('lists of several processes become one: counts are added, the latest has the remaining units', () => {
  const row = { organization: 'org_a', tier: 'standard', policy: 'organization', limit: 10, window_seconds: 60 };
  const one = { ...row, remaining: 3, near: 1, refused: 2, shadow_refused: 0, last_at: '2027-01-01T00:00:05.000Z' };
  const other = { ...row, remaining: 0, near: 1, refused: 5, shadow_refused: 1, last_at: '2027-01-01T00:00:09.000Z' };
  assert.deepEqual(mergeNearLimit([[one], [other]]), [{ ...other, near: 2, refused: 7, shadow_refused: 1 }]);
});

test('an entry has the name of its organization, and says that a limit was the share of one instance', () => {
  const { note, list } = pressedFrom();
  note('org_a', 'refused', 0, 'local');
  const [away] = list();
  assert.deepEqual([away?.name, away?.is_share, away?.last_refused?.is_share], ['Name of org_a', true, true]);
  note('org_a', 'eased', 8);
  const [back] = list();
  assert.deepEqual([back?.is_share, back?.last_refused?.is_share], [undefined, true]);
});
