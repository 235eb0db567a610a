// From samples to rows, and from rows to promises.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goalsOf } from '../goals.ts';
import type { Sample } from '../measure.ts';
import { type Result, resultsOf } from '../results.ts';

const sample = (cpuMicros: number, added?: Sample['added']): Sample => ({
  cpuMicros,
  perSecond: 1e6 / cpuMicros,
  busy: 1,
  added,
});

test('a contestant is compared with the floor round by round', () => {
  // In the second round every contestant costs twice as much, as on a disturbed machine.
  const [first, second] = resultsOf(
    'GET list',
    [
      { contestant: 'floor', samples: [sample(40), sample(80), sample(40)], peakBytes: 2 ** 20 },
      { contestant: 'other', samples: [sample(60), sample(120), sample(60)], peakBytes: 3 * 2 ** 20 },
    ],
    true,
  );
  assert.equal(first?.timesFloor, 1);
  assert.equal(second?.timesFloor, 1.5);
  assert.equal(second?.cpuMicros, 60);
  assert.equal(second?.cpuSpread, '60–120');
  assert.equal(second?.peakMiB, 3);
});

test('without the floor there is nothing to be compared with', () => {
  const [only] = resultsOf('404', [{ contestant: 'gateway', samples: [sample(40)], peakBytes: 0 }], false);
  assert.equal(only?.timesFloor, undefined);
  assert.equal(only?.perSecond, 25_000);
});

test('added latency is there only in scenarios with an upstream', () => {
  const samples = [sample(40, { p50Ms: 0.2, p99Ms: 2 }), sample(40, { p50Ms: 0.4, p99Ms: 4 })];
  const [asked] = resultsOf('GET list', [{ contestant: 'gateway', samples, peakBytes: 0 }], false);
  assert.equal(asked?.addedP50Ms, 0.3);
  assert.equal(asked?.addedP99Spread, '2–4');
  const [refused] = resultsOf('404', [{ contestant: 'gateway', samples: [sample(40)], peakBytes: 0 }], false);
  assert.equal(refused?.addedP50Ms, undefined);
});

function resultWith(scenario: string, contestant: string, cpuMicros: number, addedP50Ms = 0): Result {
  const [result] = resultsOf(
    scenario,
    [{ contestant, samples: [sample(cpuMicros, { p50Ms: addedP50Ms, p99Ms: 1 })], peakBytes: 0 }],
    false,
  );
  return result as Result;
}

test('a goal holds up to its bound and not beyond', () => {
  const holdsAt = (cpuMicros: number) => {
    const taken = [
      { contestant: 'floor: node:http + undici', samples: [sample(40)], peakBytes: 0 },
      { contestant: 'gateway: all on, Redis', samples: [sample(cpuMicros)], peakBytes: 0 },
      { contestant: 'express + http-proxy-middleware', samples: [sample(120)], peakBytes: 0 },
    ];
    return goalsOf(resultsOf('GET list', taken, true));
  };
  assert.deepEqual(holdsAt(70), [
    { goal: 'GET, CPU of the floor', bound: 'at most 1.75 ×', measured: 1.75, holds: true },
    { goal: 'GET, CPU of express + http-proxy-middleware', bound: 'at most 0.6 ×', measured: 0.58, holds: true },
  ]);
  assert.deepEqual(
    holdsAt(80).map(({ measured, holds }) => [measured, holds]),
    [
      [2, false],
      [0.67, false],
    ],
  );
});

test('refusals have to be at least twice as many', () => {
  const list = resultWith('GET list', 'gateway: all on, Redis', 40);
  const holdsAt = (cpuMicros: number) =>
    goalsOf([list, resultWith('429 blocked caller', 'gateway: all on, Redis', cpuMicros)]).find(({ goal }) =>
      goal.startsWith('429'),
    );
  assert.equal(holdsAt(20)?.holds, true);
  assert.equal(holdsAt(21)?.holds, false);
});

test('contestants that did not take part are not reported', () => {
  assert.deepEqual(goalsOf([]), []);
  const goals = goalsOf([resultWith('GET list', 'gateway: all on, Redis', 40, 0.7)]);
  assert.deepEqual(
    goals.map(({ goal, holds }) => [goal, holds]),
    [
      ['GET, added p50', false],
      ['GET, added p99', true],
    ],
  );
});
