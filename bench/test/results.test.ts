// From samples to rows, and from rows to promises.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goalsOf } from '../goals.ts';
import type { Sample } from '../measure.ts';
import { type Manner, type Result, resultsOf, type Taken } from '../results.ts';

type Bare = Pick<Taken, 'id' | 'samples'> & Partial<Taken>;

/** Rows of contestants without a name of their own. */
const rowsOf = (scenario: string, taken: readonly Bare[], hasFloor: boolean, manner: Manner = 'in turn') =>
  resultsOf(
    manner,
    scenario,
    taken.map((one) => ({ contestant: one.id, peakBytes: 0, ...one })),
    hasFloor,
  );

const sample = (cpuMicros: number, added?: Sample['added']): Sample => ({
  cpuMicros,
  perSecond: 1e6 / cpuMicros,
  busy: 1,
  added,
});

test('a contestant is compared with the floor round by round', () => {
  // In the second round every contestant costs twice as much, as on a disturbed machine.
  const [first, second] = rowsOf(
    'GET list',
    [
      { id: 'floor', samples: [sample(40), sample(80), sample(40)], peakBytes: 2 ** 20 },
      { id: 'other', samples: [sample(60), sample(120), sample(60)], peakBytes: 3 * 2 ** 20 },
    ],
    true,
  );
  assert.equal(first?.timesFloor, 1);
  assert.equal(second?.timesFloor, 1.5);
  assert.deepEqual(second?.timesFloorInterval, { low: 1.5, high: 1.5, confidence: 0.75 });
  assert.equal(second?.cpuMicros, 60);
  assert.equal(second?.cpuSpread, '60–120');
  assert.equal(second?.peakMiB, 3);
});

test('without the floor there is nothing to be compared with', () => {
  const [only] = rowsOf('404', [{ id: 'gateway-redis', samples: [sample(40)] }], false);
  assert.equal(only?.timesFloor, undefined);
  assert.equal(only?.perSecond, 25_000);
});

test('added latency is there only in scenarios with an upstream', () => {
  const samples = [sample(40, { p50Ms: 0.2, p99Ms: 2 }), sample(40, { p50Ms: 0.4, p99Ms: 4 })];
  const [asked] = rowsOf('GET list', [{ id: 'gateway-redis', samples }], false);
  assert.equal(asked?.addedP50Ms, 0.3);
  assert.equal(asked?.addedP99Spread, '2–4');
  const [refused] = rowsOf('404', [{ id: 'gateway-redis', samples: [sample(40)] }], false);
  assert.equal(refused?.addedP50Ms, undefined);
});

function resultWith(scenario: string, id: string, cpuMicros: number, addedP50Ms = 0): Result {
  const [result] = rowsOf(scenario, [{ id, samples: [sample(cpuMicros, { p50Ms: addedP50Ms, p99Ms: 1 })] }], false);
  return result as Result;
}

test('a goal holds up to its bound and not beyond', () => {
  const holdsAt = (cpuMicros: number) => {
    const taken = [
      { id: 'floor', samples: [sample(40)] },
      { id: 'gateway-redis', samples: [sample(cpuMicros)] },
      { id: 'express', samples: [sample(120)] },
    ];
    return goalsOf(rowsOf('GET list', taken, true));
  };
  assert.deepEqual(holdsAt(52), [
    { manner: 'in turn', goal: 'GET list, CPU of the floor', bound: 'at most 1.3 ×', measured: 1.3, holds: true },
    { manner: 'in turn', goal: 'GET list, CPU of express', bound: 'at most 0.6 ×', measured: 0.43, holds: true },
  ]);
  assert.deepEqual(
    holdsAt(80).map(({ measured, holds }) => [measured, holds]),
    [
      [2, false],
      [0.67, false],
    ],
  );
});

test('a refusal is compared with a forwarded list', () => {
  const holdsAt = (cpuMicros: number) => {
    const taken = [
      { id: 'floor', samples: [sample(40)] },
      { id: 'gateway-redis', samples: [sample(cpuMicros)] },
    ];
    return goalsOf(rowsOf('429 blocked caller', taken, true)).map(({ goal, holds }) => [goal, holds]);
  };
  assert.deepEqual(holdsAt(20), [['429 blocked caller, CPU of the floor', true]]);
  assert.deepEqual(holdsAt(21), [['429 blocked caller, CPU of the floor', false]]);
});

test('each manner of measuring is judged by itself', () => {
  const taken = (cpuMicros: number) => [
    { id: 'floor', samples: [sample(40)] },
    { id: 'gateway-redis', samples: [sample(cpuMicros)] },
  ];
  const results = [...rowsOf('GET list', taken(48), true, 'in turn'), ...rowsOf('GET list', taken(60), true, 'anew')];
  assert.deepEqual(
    goalsOf(results).map(({ manner, measured, holds }) => [manner, measured, holds]),
    [
      ['in turn', 1.2, true],
      ['anew', 1.5, false],
    ],
  );
});

test('contestants that did not take part are not reported', () => {
  assert.deepEqual(goalsOf([]), []);
  const goals = goalsOf([resultWith('GET list', 'gateway-redis', 40, 0.7)]);
  assert.deepEqual(
    goals.map(({ goal, holds }) => [goal, holds]),
    [['GET list, added p50', false]],
  );
});
