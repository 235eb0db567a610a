import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { busiestSpan, leanestSpan } from '../../../bench/limits-spans.ts';
import { createProcessStore } from '../../../gateway/limits/counters/process-store.ts';
import { busiestSpan as busiestOf, createReference } from './reference-model.ts';
import { charge, LIMIT_RUNS, type Scenario, START_MS, scenarios } from './scenarios.ts';

function createClock(): { now: () => number; advance: (ms: number) => void } {
  let nowMs = START_MS;
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}

/** Set back by less than a window in all: entries that the store has forgotten by then cannot matter. */
const traffic = scenarios(() => 'org_x', 500);

function replay({ steps }: Scenario): ReturnType<typeof createReference> {
  const clock = createClock();
  const store = createProcessStore({ now: clock.now });
  const reference = createReference();
  for (const { advanceMs, requests } of steps) {
    clock.advance(advanceMs);
    for (const charges of requests) {
      const { source, ...verdict } = store.decide(charges);
      assert.equal(source, 'process');
      assert.deepEqual(verdict, reference.decide(charges, clock.now()));
    }
  }
  return reference;
}

test('every answer equals that of the reference model, and no span as long as the window exceeds the limit, even after the clock was set back', () => {
  const property = fc.property(traffic, (scenario) => {
    const reference = replay(scenario);
    for (const { counter, requests, windowMs } of scenario.limits) {
      assert.ok(busiestOf(reference.admissionsOf(counter), windowMs) <= requests);
    }
  });
  fc.assert(property, { numRuns: 100 * LIMIT_RUNS });
});

test('units are held at most one hundredth of a window too long', () => {
  const clock = createClock();
  const store = createProcessStore({ now: clock.now });
  const decidedAtMs: number[] = [];
  for (let ms = 0; ms < 600_000; ms += 50) {
    clock.advance(50);
    const verdict = store.decide([charge({ counter: 'k' })]);
    if (verdict.outcome === 'admitted') decidedAtMs.push(verdict.decidedAtMs);
  }
  for (let from = START_MS; from < START_MS + 540_000; from += 1000) {
    const admitted = decidedAtMs.filter((ms) => ms > from && ms <= from + 60_600).length;
    assert.ok(admitted >= 100, `${admitted} from ${from - START_MS}`);
  }
});

test('after a burst, units come free as they were spent: hardly any span as long as the window holds less than the limit', () => {
  const clock = createClock();
  const store = createProcessStore({ now: clock.now });
  const limit = charge({ counter: 'k', requests: 1_000, windowSeconds: 5 });
  const decidedAtMs: number[] = [];
  // The burst takes 250 ms; a refused client sends again at once.
  for (let ms = 0; ms < 20_000; ms += 1) {
    clock.advance(1);
    for (let sent = 0; sent < 4; sent += 1) {
      const { outcome, decidedAtMs: atMs } = store.decide([limit]);
      if (outcome === 'admitted') decidedAtMs.push(atMs);
    }
  }
  assert.equal(busiestSpan(decidedAtMs, limit.windowMs), 1_000);
  const leanest = leanestSpan(decidedAtMs, limit.windowMs, clock.now());
  assert.ok(leanest >= 980, `${leanest} in the leanest span`);
});

test('a burst before the minute and one after it admit the limit once', () => {
  const clock = createClock();
  const store = createProcessStore({ now: clock.now });
  const burst = () => Array.from({ length: 150 }, () => store.decide([charge({ counter: 'k' })]).outcome);
  clock.advance(59_500);
  assert.equal(burst().filter((outcome) => outcome === 'admitted').length, 100);
  clock.advance(1_000);
  assert.equal(burst().filter((outcome) => outcome === 'admitted').length, 0);
});

test("waiting for the refusal's wait admits, a second less does not, and refusals spend nothing", () => {
  const clock = createClock();
  const store = createProcessStore({ now: clock.now });
  const ask = () => store.decide([charge({ counter: 'k', requests: 5 })]);
  for (let sent = 0; sent < 5; sent += 1) {
    assert.equal(ask().outcome, 'admitted');
    clock.advance(2_000);
  }
  const refused = ask();
  assert.deepEqual(refused.states[0], {
    policy: 'organization',
    limit: 5,
    windowSeconds: 60,
    remaining: 0,
    resetMs: 50_000,
  });
  assert.equal(refused.waitMs, 50_000);
  clock.advance(49_000);
  for (let tries = 0; tries < 1_000; tries += 1) assert.equal(ask().outcome, 'refused');
  clock.advance(1_000);
  assert.equal(ask().outcome, 'admitted');
});

test('a dear request waits until all its units fit, and one dearer than the limit gets the whole window as its wait', () => {
  const clock = createClock();
  const store = createProcessStore({ now: clock.now });
  const ask = (cost: number) => store.decide([charge({ counter: 'k', requests: 5, cost })]);
  for (let sent = 0; sent < 4; sent += 1) {
    ask(1);
    clock.advance(10_000);
  }
  const refused = ask(3);
  assert.deepEqual([refused.states[0]?.remaining, refused.states[0]?.resetMs, refused.waitMs], [1, 20_000, 30_000]);
  assert.equal(ask(6).waitMs, 60_000);
  clock.advance(30_000);
  assert.equal(ask(3).outcome, 'admitted');
});

test('with two limits, a request that one refuses does not count in the other', () => {
  const store = createProcessStore({ now: () => START_MS });
  const both = [
    charge({ counter: 'wide', requests: 10 }),
    charge({ counter: 'narrow', policy: 'writes', requests: 2 }),
  ];
  store.decide(both);
  store.decide(both);
  const refused = store.decide(both);
  assert.deepEqual(refused.violated, ['writes']);
  assert.deepEqual(
    refused.states.map(({ remaining }) => remaining),
    [8, 0],
  );
});

test('a shadow limit reports the requests that it would refuse, and counts as if it did', () => {
  const clock = createClock();
  const store = createProcessStore({ now: clock.now });
  const ask = () => store.decide([charge({ counter: 'k', policy: 'tight', requests: 2, enforce: false })]);
  assert.deepEqual(
    [ask(), ask(), ask()].map(({ shadowRefusals }) => shadowRefusals.length),
    [0, 0, 1],
  );
  const reported = ask();
  assert.equal(reported.outcome, 'admitted');
  assert.deepEqual([reported.violated, reported.waitMs], [[], 0]);
  clock.advance(60_000);
  assert.deepEqual(ask().shadowRefusals, []);
});

test('a lowered limit keeps its counted requests', () => {
  const store = createProcessStore({ now: () => START_MS });
  for (let sent = 0; sent < 5; sent += 1) store.decide([charge({ counter: 'k', requests: 10 })]);
  const { outcome, states } = store.decide([charge({ counter: 'k', requests: 3 })]);
  assert.deepEqual([outcome, states[0]?.remaining, states[0]?.resetMs], ['refused', 0, 60_000]);
});

test('subjects that went away are forgotten as others come', () => {
  const clock = createClock();
  const store = createProcessStore({ now: clock.now });
  let largest = 0;
  for (let subject = 0; subject < 20_000; subject += 1) {
    clock.advance(60);
    store.decide([charge({ counter: `k${subject}` })]);
    largest = Math.max(largest, store.size());
  }
  assert.ok(largest <= 4_000, `${largest} in memory, about 1000 within a window`);
});

test('a reset forgets the named subjects and no other', () => {
  const store = createProcessStore({ now: () => START_MS });
  const ask = (counter: string) => store.decide([charge({ counter, requests: 1 })]).outcome;
  for (const counter of ['one', 'other']) assert.equal(ask(counter), 'admitted');
  store.reset(['one', 'unknown']);
  assert.deepEqual([ask('one'), ask('other')], ['admitted', 'refused']);
});

test('a look, at a cost of nothing, sees everything and spends nothing', () => {
  const store = createProcessStore({ now: () => START_MS });
  const look = () => store.decide([charge({ counter: 'k', cost: 0 })]).states[0];
  assert.deepEqual([look()?.remaining, look()?.resetMs], [100, 0]);
  store.decide([charge({ counter: 'k', cost: 30 })]);
  assert.deepEqual([look()?.remaining, look()?.resetMs], [70, 60_000]);
  assert.deepEqual(look(), look());
});
